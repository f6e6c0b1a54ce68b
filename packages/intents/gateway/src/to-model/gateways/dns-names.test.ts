import { expect, test } from 'vitest'
import { gatewayWith, http, routeWith, serviceOf, surroundingsOf, to } from '../../testing/objects.ts'
import { compileGateway } from './compile-gateway.ts'

const surroundings = { ...surroundingsOf([serviceOf('a')]), domains: ['*.example'] }
const rules = [{ backendRefs: [to('a')] }]
const namesOf = (...[gateway, routes]: [ReturnType<typeof gatewayWith>, ReturnType<typeof routeWith>[]]) => {
  const { wanted, nameNotices } = compileGateway(gateway, routes, surroundings)
  return { names: wanted?.content.dnsNames, ttl: wanted?.content.dnsTtlSeconds, notices: nameNotices }
}

test("listeners' hosts and those at which routes attach are names; a wildcard is one where a route takes all of it", () => {
  const listeners = [http('exact', { hostname: 'l.example' }), http('wide', { hostname: '*.w.example' })]
  const gateway = gatewayWith(listeners)
  const narrow = routeWith({ hostnames: ['r.w.example', 'other.example'], rules })
  expect(namesOf(gateway, [narrow]).names).toEqual(['l.example', 'r.w.example'])
  const all = routeWith({ rules }, { name: 'all', number: 3, createdAt: '2026-02-01T00:00:00Z' })
  expect(namesOf(gateway, [all, narrow]).names).toEqual(['l.example', 'r.w.example', '*.w.example'])
})

test('annotations of the Gateway are read, and the time to live of a route', () => {
  const gateway = gatewayWith([http('any')])
  const annotated = (
    annotations: Readonly<Record<string, string>>,
    route = routeWith({ hostnames: ['r.example'], rules }),
  ) => ({
    ...route,
    metadata: { ...route.metadata, annotations },
  })
  const asking = {
    ...gateway,
    metadata: { ...gateway.metadata, annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'n.example' } },
  }
  const prefix = 'external-dns.kubernetes.io'
  expect(namesOf(asking, [annotated({ [`${prefix}/ttl`]: '30', [`${prefix}/hostname`]: 'x.example' })])).toEqual({
    names: ['n.example', 'r.example'],
    ttl: 30,
    notices: [],
  })
  expect(namesOf(gateway, [annotated({ [`${prefix}/controller`]: 'other' })]).names).toBeUndefined()
})

test('names that the project may not have are said, and served all the same', () => {
  const route = routeWith({ hostnames: ['r.example', 'r.org'], rules })
  const { names, notices } = namesOf(gatewayWith([http('any'), http('odd', { hostname: 'l.org' })]), [route])
  expect(names).toEqual(['r.example'])
  expect(notices.map(({ reason, field }) => `${reason} ${field}`)).toEqual([
    'NameRefused spec.listeners[odd].hostname',
    'NameRefused shop/r: spec.hostnames',
  ])
})
