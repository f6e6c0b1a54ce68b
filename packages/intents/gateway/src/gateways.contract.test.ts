import { isDeepStrictEqual } from 'node:util'
import { byLength, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from './objects/gateway.ts'
import type { HttpRouteObject } from './objects/http-route.ts'
import { CONTROLLER_NAME } from './objects/names.ts'
import type { RouteObject } from './objects/route.ts'
import { brokenRoute, createBrokenSurroundings, forEach, goodHost } from './testing/broken-objects.fixture.ts'
import { type GatewayBed, openGatewayBed, said } from './testing/gateway-bed.fixture.ts'

let bed: GatewayBed
let running: Awaited<ReturnType<GatewayBed['start']>>
beforeAll(async () => {
  bed = await openGatewayBed()
  await bed.createService('web', '10.128.0.1')
  await bed.createService('far', '10.128.0.2', 'team')
  running = await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())
beforeEach(() => {
  running.calls.splice(0)
  running.writes.splice(0)
})

const idle = () => bed.until('an empty queue', () => running.controller.counters.queued === 0)
const addressOf = ({ status }: Gateway) => status?.addresses?.[0]?.value ?? ''
const ofGateway = ({ status }: Gateway) => said(status?.conditions)
const ofListener = ({ status }: Gateway, at = 0) => status?.listeners?.[at]
const parentOf = ({ status }: RouteObject) =>
  said(status?.parents.find(({ controllerName }) => controllerName === CONTROLLER_NAME)?.conditions)
const when = (name: string, what: string, holds: (gateway: Gateway) => boolean) =>
  bed.until(`${name}: ${what}`, async () => {
    const one = await bed.gateway(name)
    return holds(one) && one
  })
const whenRoute = (name: string, what: string, holds: (route: HttpRouteObject) => boolean, namespace?: string) =>
  bed.until(`${name}: ${what}`, async () => {
    const one = await bed.route(name, namespace)
    return holds(one) && one
  })
/** Whether an object has all of these properties. */
const isMatch = (all: object, some: object) => isDeepStrictEqual({ ...all, ...some }, all)
const whenSet = (name: string, accepted: string, namespace?: string) =>
  bed.until(
    `${name}: ${accepted}`,
    async () => {
      const one = await bed.listenerSet(name, namespace)
      return said(one.status?.conditions)['Accepted'] === accepted && one
    },
    30_000,
  )
/** ListenerSets. */
const allowing = (from: string) => ({ allowedListeners: { namespaces: { from } } })
const to = (name: string, more: object = {}) => ({ backendRefs: [{ name, port: 8080, ...more }] })
const actions = (one: Gateway) =>
  bed
    .documentOf(one)
    ?.listeners[0]?.routes.map(({ action }) => ('code' in action ? action.code : action.type))
    .join()

describe('against a real API server with Gateway API v1.6', () => {
  test('a class of ours is accepted with its features; one of another controller is not touched', async () => {
    const ours = await bed.until('Accepted', async () => {
      const one = await bed.gatewayClass('spout')
      return said(one.status?.conditions)['Accepted'] === 'True Accepted' && one
    })
    expect(ours.status?.supportedFeatures?.map(({ name }) => name)).toContain('HTTPRoute')
    const foreign = await bed.gatewayClass('foreign')
    expect(said(foreign.status?.conditions)).toEqual({ Accepted: 'Unknown Pending' })
  })

  test('a Gateway with a route: accepted at once, programmed when its nodes say so, gone with its load balancer', async () => {
    const made = await bed.createGateway('whole')
    await bed.createRoute('whole', { parentRefs: [{ name: 'whole' }], rules: [to('web')] })
    const waiting = await when(
      'whole',
      'an address and its route',
      (one) => addressOf(one) !== '' && ofListener(one)?.attachedRoutes === 1,
    )
    const resolved = { ResolvedRefs: 'True ResolvedRefs' }
    expect(ofGateway(waiting)).toEqual({ Accepted: 'True Accepted', Programmed: 'False Pending', ...resolved })
    expect(ofListener(waiting)?.supportedKinds.map(({ kind }) => kind)).toContain('HTTPRoute')
    const route = await whenRoute('whole', 'its parent', ({ status }) => (status?.parents.length ?? 0) > 0)
    expect(parentOf(route)).toEqual({ Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs' })
    await bed.until('its members', () => (bed.documentOf(made)?.pools[0]?.members.length ?? 0) === 1)
    const document = bed.documentOf(made)!
    expect(document.pools.map(({ name, members }) => [name, members[0]?.address, members[0]?.port])).toEqual([
      ['shop/web:8080', '10.128.0.1', 3000],
    ])
    expect(actions(made)).toBe('forward,404')
    bed.confirm(document)
    const done = await when('whole', 'programmed', (one) => ofGateway(one)['Programmed'] === 'True Programmed')
    expect(said(ofListener(done)?.conditions)['Programmed']).toBe('True Programmed')
    expect(addressOf(done)).toBe(document.vips[0]?.address)
    await bed.remove('gateways', 'whole')
    await bed.until('gone', async () => (await bed.gateway('whole').catch(() => null)) === null)
    expect(bed.documentOf(made)).toBeUndefined()
    await whenRoute('whole', 'no parent', ({ status }) => status?.parents.length === 0)
    await bed.remove('httproutes', 'whole')
  })

  test('routes come, change and go on the same address; each is one call', async () => {
    const made = await bed.createGateway('edited')
    const address = addressOf(await when('edited', 'an address', (one) => addressOf(one) !== ''))
    await idle()
    running.calls.splice(0)
    await bed.createRoute('edited', { parentRefs: [{ name: 'edited' }], rules: [to('web')] })
    await bed.until('a route', () => actions(made) === 'forward,404')
    await idle()
    expect(running.calls).toEqual(['replace'])
    const id = bed.documentOf(made)?.listeners[0]?.routes[0]?.id
    await bed.change('httproutes', 'edited', { spec: { rules: [to('web'), { matches: [{ path: { value: '/x' } }] }] } })
    await bed.until('another', () => actions(made) === '500,forward,404')
    await idle()
    expect(running.calls).toEqual(['replace', 'changeRoutes'])
    expect(bed.documentOf(made)?.listeners[0]?.routes[1]?.id).toBe(id)
    const route = await whenRoute('edited', 'observed', ({ status, metadata }) =>
      (status?.parents[0]?.conditions ?? []).every(
        ({ observedGeneration }) => observedGeneration === metadata.generation,
      ),
    )
    expect(route.metadata.generation).toBe(2)
    await bed.remove('httproutes', 'edited')
    await bed.until('none', () => actions(made) === '404')
    const after = await when('edited', 'no route', (one) => ofListener(one)?.attachedRoutes === 0)
    expect(addressOf(after)).toBe(address)
  })

  test('listeners come and go; the generation is observed', async () => {
    const made = await bed.createGateway('listeners')
    await when('listeners', 'an address', (one) => addressOf(one) !== '')
    const listeners = [
      { name: 'http', port: 80, protocol: 'HTTP' },
      { name: 'alt', port: 8080, protocol: 'HTTP', hostname: 'a.example.org' },
      { name: 'odd', port: 81, protocol: 'example.org/odd' },
    ]
    await bed.change('gateways', 'listeners', { spec: { listeners } })
    const now = await when('listeners', 'three listeners', ({ status }) => status?.listeners?.length === 3)
    expect(ofGateway(now)['Accepted']).toBe('True ListenersNotValid')
    expect(said(ofListener(now, 2)?.conditions)).toMatchObject({
      Accepted: 'False UnsupportedProtocol',
      Programmed: 'False Invalid',
    })
    const all = [
      ...(now.status?.conditions ?? []),
      ...(now.status?.listeners ?? []).flatMap(({ conditions }) => conditions),
    ]
    expect(new Set(all.map(({ observedGeneration }) => observedGeneration))).toEqual(new Set([2]))
    expect(bed.documentOf(made)?.listeners.map(({ port }) => port)).toEqual([80, 8080])
    await bed.change('gateways', 'listeners', { spec: { listeners: listeners.slice(2) } })
    const none = await when(
      'listeners',
      'no valid one',
      (one) => ofGateway(one)['Accepted'] === 'False ListenersNotValid',
    )
    await bed.until('nothing is served', () => bed.documentOf(made)?.listeners.length === 0)
    expect(addressOf(none)).not.toBe('')
  })

  test('another namespace: by selector, and to a Service that a grant names', async () => {
    const allowedRoutes = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'red' } } } }
    const made = await bed.createGateway('shared', {
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes }],
    })
    const parentRefs = [{ name: 'shared', namespace: 'shop' }]
    await bed.createRoute('inside', { parentRefs, rules: [to('web')] })
    const refused = await whenRoute('inside', 'an answer', ({ status }) => status?.parents.length === 1)
    expect(parentOf(refused)['Accepted']).toBe('False NotAllowedByListeners')
    await bed.createRoute('outside', { parentRefs, rules: [to('web', { namespace: 'shop' })] }, 'team')
    const unresolved = await whenRoute('outside', 'an answer', ({ status }) => status?.parents.length === 1, 'team')
    expect(parentOf(unresolved)).toEqual({ Accepted: 'True Accepted', ResolvedRefs: 'False RefNotPermitted' })
    await bed.until('its route', () => actions(made) === '500,404')
    await bed.createGrant(
      'all',
      {
        from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' }],
        to: [{ group: '', kind: 'Service', name: 'web' }],
      },
      'shop',
    )
    await whenRoute('outside', 'resolved', (one) => parentOf(one)['ResolvedRefs'] === 'True ResolvedRefs', 'team')
    await bed.until('its backend', () => actions(made) === 'forward,404')
    await bed.api.patch('/api/v1/namespaces/team', { metadata: { labels: { team: 'blue' } } })
    await whenRoute('outside', 'refused', (one) => parentOf(one)['Accepted'] === 'False NotAllowedByListeners', 'team')
    await bed.until('no route', () => actions(made) === '404')
  })

  test('a GRPCRoute is served in HTTP/2; of it and an HTTPRoute with the same name the older is accepted', async () => {
    const made = await bed.createGateway('grpc')
    const rules = [{ ...to('web'), matches: [{ method: { service: 'shop.v1.Cart', method: 'Add' } }] }]
    const spec = { parentRefs: [{ name: 'grpc' }], hostnames: ['grpc.example.org'] }
    await bed.createGrpcRoute('grpc', { ...spec, rules })
    const route = (what: string, holds: (shown: Readonly<Record<string, string>>) => boolean) =>
      bed.until(`grpc: ${what}`, async () => holds(parentOf(await bed.grpcRoute('grpc'))))
    await route('accepted', ({ Accepted, ResolvedRefs }) => Accepted === 'True Accepted' && ResolvedRefs !== undefined)
    await bed.until('its route', () => actions(made) === 'forward,404')
    expect(bed.documentOf(made)?.pools).toMatchObject([{ name: 'shop/web:8080/h2', http2: true }])
    expect(bed.documentOf(made)?.listeners[0]?.routes[0]?.conditions).toEqual([
      { on: 'host', compare: 'exact', values: ['grpc.example.org'], not: false },
      { on: 'path', compare: 'exact', values: ['/shop.v1.Cart/Add'], not: false },
    ])
    // The API server's times are whole seconds. At equal age the name decides.
    await bed.createRoute('rival', { ...spec, rules: [to('web')] })
    const refused = await whenRoute('rival', 'an answer', ({ status }) => status?.parents.length === 1)
    expect(parentOf(refused)['Accepted']).toBe('False HostnameConflict')
    const shown = await when('grpc', 'one route', (one) => ofListener(one)?.attachedRoutes === 1)
    expect(ofListener(shown)?.supportedKinds.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['GRPCRoute', 'HTTPRoute']),
    )
    await bed.remove('grpcroutes', 'grpc')
    await whenRoute('rival', 'accepted', (one) => parentOf(one)['Accepted'] === 'True Accepted')
    await bed.until('another pool', () => bed.documentOf(made)?.pools[0]?.name === 'shop/web:8080')
    await bed.remove('httproutes', 'rival')
  })

  test('a BackendTLSPolicy: authorities of a ConfigMap that comes late, a conflict, and its end', async () => {
    const made = await bed.createGateway('inner')
    await bed.createRoute('inner', { parentRefs: [{ name: 'inner' }], rules: [to('web')] })
    await bed.until('plain', () => actions(made) === 'forward,404')
    const spec = (name: string) => ({
      targetRefs: [{ group: '', kind: 'Service', name: 'web' }],
      validation: { hostname: 'web.internal', caCertificateRefs: [{ group: '', kind: 'ConfigMap', name }] },
    })
    const policy = (name: string, shown: Readonly<Record<string, string>>) =>
      bed.until(`${name}: ${JSON.stringify(shown)}`, async () => {
        const ancestors = (await bed.policy(name)).status?.ancestors ?? []
        const ours = ancestors.find(({ ancestorRef }) => ancestorRef.name === 'inner')
        return isDeepStrictEqual(said(ours?.conditions), shown)
      })
    await bed.createPolicy('inner', spec('ca'))
    await policy('inner', { Accepted: 'False NoValidCACertificate', ResolvedRefs: 'False InvalidCACertificateRef' })
    // Nothing is sent to endpoints that cannot be verified.
    await bed.until('500', () => actions(made) === '500,404')
    await bed.createAuthorities('ca')
    await policy('inner', { Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs' })
    await bed.until('a pool with TLS', () => bed.documentOf(made)?.pools[0]?.tls !== undefined)
    const [authorities] = bed.certificates()
    expect(bed.documentOf(made)?.pools).toMatchObject([
      { name: 'shop/web:8080/tls', tls: { caCertificateId: authorities?.id, serverName: 'web.internal' } },
    ])
    await bed.createPolicy('later', spec('ca'))
    await policy('later', { Accepted: 'False Conflicted', ResolvedRefs: 'True ResolvedRefs' })
    await bed.remove('backendtlspolicies', 'inner')
    await policy('later', { Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs' })
    await bed.remove('backendtlspolicies', 'later')
    await bed.until('plain again', () => bed.documentOf(made)?.pools[0]?.tls === undefined)
    await bed.until('no authorities', () => bed.certificates().length === 0)
    await bed.remove('httproutes', 'inner')
  })

  test('nothing of other classes is written, nor entries of other controllers', async () => {
    await bed.createGateway('foreign', { gatewayClassName: 'foreign' })
    await bed.createGateway('mine')
    const theirs = { parentRef: { name: 'foreign' }, controllerName: 'x.org/y', conditions: [] }
    await bed.createRoute('both', { parentRefs: [{ name: 'foreign' }, { name: 'mine' }], rules: [to('web')] })
    const path = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/both/status'
    await whenRoute('both', 'our entry', ({ status }) => status?.parents.length === 1)
    const accepted = {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const shown = await bed.route('both')
    await bed.api.patch(path, {
      status: { parents: [...(shown.status?.parents ?? []), { ...theirs, conditions: [accepted] }] },
    })
    await bed.change('httproutes', 'both', { spec: { rules: [to('missing')] } })
    const now = await whenRoute('both', 'ours anew', (one) => parentOf(one)['ResolvedRefs'] === 'False BackendNotFound')
    const kept = now.status?.parents.find(({ controllerName }) => controllerName === 'x.org/y')
    expect(kept?.conditions).toEqual([accepted])
    const foreign = await bed.gateway('foreign')
    expect([foreign.metadata.finalizers, ofGateway(foreign)]).toEqual([
      undefined,
      { Accepted: 'Unknown Pending', Programmed: 'Unknown Pending' },
    ])
    expect(running.writes.filter((write) => write.includes('/foreign'))).toEqual([])
  })

  test('HTTPS: the certificate of a Secret, which comes late, is renewed, and goes with the Gateway', async () => {
    const tls = { certificateRefs: [{ name: 'cert' }] }
    const made = await bed.createGateway('secure', {
      listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', hostname: 'a.example.org', tls }],
    })
    const missing = await when(
      'secure',
      'why',
      (one) => said(ofListener(one)?.conditions)['ResolvedRefs'] !== undefined,
    )
    expect(said(ofListener(missing)?.conditions)['ResolvedRefs']).toBe('False InvalidCertificateRef')
    await bed.createSecret('cert', 'a.example.org')
    await when('secure', 'resolved', (one) => said(ofListener(one)?.conditions)['ResolvedRefs'] === 'True ResolvedRefs')
    await bed.until('its listener', () => bed.documentOf(made)?.listeners[0]?.protocol === 'https')
    const [before] = bed.certificates()
    expect(bed.documentOf(made)?.listeners[0]?.tls?.certificateIds).toEqual([before?.id])
    await idle()
    running.calls.splice(0)
    await bed.createSecret('cert', 'a.example.org')
    await bed.until('the new one', () => bed.certificates()[0]?.chain !== before?.chain)
    expect(bed.documentOf(made)?.listeners[0]?.tls?.certificateIds).toEqual([before?.id])
    await idle()
    expect(running.calls).toEqual([])
    await bed.remove('gateways', 'secure')
    await bed.until('no certificate', () => bed.certificates().length === 0)
  })

  test('certificates of clients by a ConfigMap that comes late and goes, and one for backends', async () => {
    const tls = { certificateRefs: [{ name: 'cert' }] }
    await bed.createSecret('cert', 'a.example.org')
    const made = await bed.createGateway('mutual', {
      listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', tls }],
      tls: {
        frontend: {
          default: { validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'clients-ca' }] } },
        },
        backend: { clientCertificateRef: { name: 'cert' } },
      },
    })
    const shows = (what: string, wanted: Readonly<Record<string, string>>) =>
      when('mutual', what, (one) => {
        const shown = said(ofListener(one)?.conditions)
        return Object.entries(wanted).every(([type, text]) => shown[type] === text)
      })
    const refused = { Accepted: 'False NoValidCACertificate', ResolvedRefs: 'False InvalidCACertificateRef' }
    await shows('what is missing', refused)
    expect(bed.documentOf(made)?.listeners ?? []).toEqual([])
    await bed.createAuthorities('clients-ca')
    await shows('it resolves', { Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs' })
    await bed.until('its listener', () => bed.documentOf(made)?.listeners.length === 1)
    const authorities = bed.certificates().find(({ sealedKey }) => sealedKey === null)
    const { caCertificateId, required } = bed.documentOf(made)?.listeners[0]?.tls?.clientCertificates ?? {}
    expect([caCertificateId, required]).toEqual([authorities?.id, true])
    expect(ofGateway(await bed.gateway('mutual'))['ResolvedRefs']).toBe('True ResolvedRefs')
    await bed.createPolicy('mutual', {
      targetRefs: [{ group: '', kind: 'Service', name: 'web' }],
      validation: {
        hostname: 'web.internal',
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'clients-ca' }],
      },
    })
    await bed.createRoute('mutual', { parentRefs: [{ name: 'mutual' }], rules: [to('web')] })
    const shown = bed.documentOf(made)?.listeners[0]?.tls?.certificateIds[0]
    await bed.until('a pool that shows it', () => bed.documentOf(made)?.pools[0]?.tls?.clientCertificateId === shown)
    await bed.change('gateways', 'mutual', { spec: { tls: { backend: { clientCertificateRef: { name: 'other' } } } } })
    await when('mutual', 'none', (one) => ofGateway(one)['ResolvedRefs'] === 'False InvalidClientCertificateRef')
    await bed.until('without it', () => bed.documentOf(made)?.pools[0]?.tls?.clientCertificateId === null)
    await bed.remove('backendtlspolicies', 'mutual')
    await bed.api.delete('/api/v1/namespaces/shop/configmaps/clients-ca')
    await shows('that nobody is let in', refused)
    await bed.until('no listener', () => bed.documentOf(made)?.listeners.length === 0)
    await bed.remove('httproutes', 'mutual')
    await bed.remove('gateways', 'mutual')
    await bed.until('no certificate', () => bed.certificates().length === 0)
  })

  test('its names are those that a domain of the project covers, and the others are said', async () => {
    await bed.giveDomains(['*.named.example'])
    const made = await bed.createGateway('named')
    const hostnames = ['web.named.example', 'web.other.example']
    await bed.createRoute('named', { parentRefs: [{ name: 'named' }], hostnames, rules: [to('web')] })
    await bed.until('its name', () => bed.documentOf(made)?.dnsNames?.join() === 'web.named.example')
    await when('named', 'why', (one) => ofGateway(one)['spout.dev/DnsNames'] === 'False NameRefused')
    const late = await bed.createGateway('late', {
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP', hostname: 'web.named.example' }],
    })
    await when('late', 'why', (one) => ofGateway(one)['spout.dev/DnsNames'] === 'False NameRefused')
    expect(bed.documentOf(late)?.listeners).toHaveLength(1)
    await bed.change('httproutes', 'named', { spec: { hostnames: ['web.named.example'] } })
    await when('named', 'nothing more to say', (one) => ofGateway(one)['spout.dev/DnsNames'] === undefined)
    await bed.remove('httproutes', 'named')
    for (const name of ['late', 'named']) await bed.remove('gateways', name)
    await bed.until('both gone', () => [made, late].every((one) => bed.documentOf(one) === undefined))
    await bed.giveDomains([])
  })

  test('hosts below the domain of another project are refused; other hosts and routes are served', async () => {
    await bed.giveStranger(['*.foreign.example'])
    const made = await bed.createGateway('hosts')
    const parentRefs = [{ name: 'hosts' }]
    const hostnames = ['a.foreign.example', 'own.example', '*.b.foreign.example']
    await bed.createRoute('hosts', { parentRefs, hostnames, rules: [to('web')] })
    await bed.createRoute('foreign', { parentRefs, hostnames: ['c.foreign.example'], rules: [to('web')] })
    await bed.createRoute('fine', { parentRefs, hostnames: ['fine.example'], rules: [to('web')] })
    const partly = await whenRoute('hosts', 'refused in part', (one) => 'PartiallyInvalid' in parentOf(one))
    expect(parentOf(partly)).toMatchObject({ Accepted: 'True Accepted', PartiallyInvalid: 'True HostNotAllowed' })
    const conditions = partly.status?.parents[0]?.conditions ?? []
    expect(conditions.find(({ type }) => type === 'PartiallyInvalid')?.message).toBe(
      'spec.hostnames: not served: a.foreign.example, *.b.foreign.example: a domain of another project covers it.',
    )
    await whenRoute('foreign', 'refused', (one) => parentOf(one)['Accepted'] === 'False HostNotAllowed')
    const fine = await whenRoute('fine', 'accepted', (one) => parentOf(one)['Accepted'] === 'True Accepted')
    expect(parentOf(fine)).not.toHaveProperty('PartiallyInvalid')
    const served = () =>
      bed
        .documentOf(made)
        ?.listeners[0]?.routes.flatMap(({ conditions }) =>
          conditions.flatMap((one) => (one.on === 'host' ? one.values : [])),
        )
    await bed.until('the others', () => served()?.toSorted().join() === 'fine.example,own.example')
    await bed.change('httproutes', 'hosts', { spec: { hostnames: ['own.example'] } })
    await whenRoute('hosts', 'whole', (one) => !('PartiallyInvalid' in parentOf(one)))
    for (const name of ['hosts', 'foreign', 'fine']) await bed.remove('httproutes', name)
    await bed.remove('gateways', 'hosts')
  })

  test('TLS and TCP: each with its routes, of which a TCP listener has the oldest', async () => {
    const made = await bed.createGateway('connections', {
      listeners: [
        { name: 'tls', port: 443, protocol: 'TLS', hostname: '*.example.org', tls: { mode: 'Passthrough' } },
        { name: 'tcp', port: 53, protocol: 'TCP' },
      ],
    })
    const served = () =>
      bed.documentOf(made)?.listeners.map(({ protocol, port, defaultPoolId, routes }) => {
        const nameOf = (id: string) => bed.documentOf(made)?.pools.find((pool) => pool.id === id)?.name
        const pools = routes.flatMap(({ action }) => (action.type === 'forward' ? action.pools : []))
        return `${protocol}/${port} ${[defaultPoolId ?? [], ...pools.map(({ poolId }) => poolId)].flat().map(nameOf).join()}`
      })
    await bed.until('both listeners', () => served()?.join() === 'tcp/53 ,tls-passthrough/443 closed,closed')
    const parentRefs = [{ name: 'connections' }]
    const backendRefs = [{ name: 'web', port: 8080 }]
    await bed.createConnectionRoute('TLSRoute', 'named', {
      parentRefs,
      hostnames: ['a.example.org', 'b.other.net'],
      rules: [{ backendRefs }],
    })
    await bed.createConnectionRoute('TCPRoute', 'first', { parentRefs, rules: [{ backendRefs }] })
    await bed.until(
      'their pools',
      () =>
        served()?.join(' ') === 'tcp/53 TCPRoute/shop/first tls-passthrough/443 tcp-proxy/shop/web:8080,closed,closed',
    )
    const now = await when('connections', 'both attached', ({ status }) =>
      Boolean(status?.listeners?.every(({ attachedRoutes }) => attachedRoutes === 1)),
    )
    expect(now.status?.listeners?.map(({ supportedKinds }) => supportedKinds.map(({ kind }) => kind).join())).toEqual([
      'TLSRoute',
      'TCPRoute',
    ])
    // Creation times of the API server are whole seconds.
    const born = (name: string) => bed.connectionRoute('TCPRoute', name).then((one) => one.metadata.creationTimestamp)
    const before = await born('first')
    await bed.until('a second later', () => new Date().toISOString().slice(0, 19) > (before ?? '').slice(0, 19))
    await bed.createConnectionRoute('TCPRoute', 'again', {
      parentRefs,
      rules: [{ backendRefs: [{ name: 'x', port: 1 }] }],
    })
    const accepted = async (name: string) =>
      (await bed.connectionRoute('TCPRoute', name)).status?.parents[0]?.conditions?.find(
        ({ type }) => type === 'Accepted',
      )
    const idle = await bed.until('its answer', () => accepted('again'))
    expect([idle.status, idle.message]).toEqual(['True', 'Listener tcp sends to TCPRoute/shop/first, which is older.'])
    await when('connections', 'two attached', (one) => ofListener(one, 1)?.attachedRoutes === 2)
    await bed.remove('tcproutes', 'first')
    await bed.until('the other one has the listener', async () => (await accepted('again'))?.message === '')
    const { status } = await bed.connectionRoute('TCPRoute', 'again')
    expect(said(status?.parents[0]?.conditions)['ResolvedRefs']).toBe('False BackendNotFound')
    await bed.until('and refuses connections', () => served()?.[0] === 'tcp/53 ')
  })

  test('a kind of routes that the cluster has later is read when it comes', async () => {
    await bed.createService('dns', '10.128.0.3', 'shop', 'UDP')
    const made = await bed.createGateway('late', { listeners: [{ name: 'udp', port: 53, protocol: 'UDP' }] })
    await bed.until('its listener', () => bed.documentOf(made)?.listeners[0]?.protocol === 'udp')
    await bed.installLateKinds()
    const rules = [{ backendRefs: [{ name: 'dns', port: 8080 }] }]
    await bed.createConnectionRoute('UDPRoute', 'late', { parentRefs: [{ name: 'late' }], rules })
    const ofPool = () =>
      bed.documentOf(made)?.pools.map(({ name, protocol, members }) => [name, protocol, members[0]?.port])
    await bed.until('its pool', () => (ofPool()?.length ?? 0) === 1, 60_000)
    expect(ofPool()).toEqual([['UDPRoute/shop/late', 'udp', 3000]])
    await bed.until('its status', async () => {
      const { status } = await bed.connectionRoute('UDPRoute', 'late')
      return said(status?.parents[0]?.conditions)['Accepted'] === 'True Accepted'
    })
  })

  test('ListenerSets come, conflict, follow what their Gateway allows, and go', async () => {
    const listeners = [{ name: 'own', port: 80, protocol: 'HTTP', hostname: 'own.example.org' }]
    const made = await bed.createGateway('sets', { listeners, ...allowing('Same') })
    const hosts = () =>
      bed
        .documentOf(made)
        ?.listeners[0]?.routes.map(({ conditions, action }) =>
          [
            conditions.flatMap((one) => (one.on === 'host' ? one.values : [])),
            'code' in action ? action.code : action.type,
          ].join(' '),
        )
    const attached = (count: number) =>
      when('sets', `${count} sets`, ({ status }) => (status?.attachedListenerSets ?? 0) === count)
    await bed.createListenerSet('more', 'sets', [{ hostname: 'more.example.org' }, { hostname: 'own.example.org' }])
    await bed.createRoute('in-set', { parentRefs: [{ kind: 'ListenerSet', name: 'more' }], rules: [to('web')] })
    const more = await whenSet('more', 'True ListenersNotValid')
    await attached(1)
    expect(said(more.status?.conditions)['Programmed']).toBe('False Pending')
    await bed.until('its route', () => hosts()?.[0] === 'more.example.org forward')
    expect(hosts()).toEqual(['more.example.org forward', 'more.example.org 404', 'own.example.org 404', ' 404'])
    const route = await whenRoute('in-set', 'its parent', ({ status }) => status?.parents.length === 1)
    expect(route.status?.parents.map(({ parentRef }) => [parentRef.kind, parentRef.name])).toEqual([
      ['ListenerSet', 'more'],
    ])
    expect(parentOf(route)['Accepted']).toBe('True Accepted')
    const counted = await bed.until('its count', async () => {
      const { status } = await bed.listenerSet('more')
      return status?.listeners?.[0]?.attachedRoutes === 1 && status
    })
    expect(said(counted.listeners?.[1]?.conditions)).toMatchObject({
      Accepted: 'False HostnameConflict',
      Conflicted: 'True HostnameConflict',
    })
    expect(said(ofListener(await bed.gateway('sets'))?.conditions)['Conflicted']).toBe('False NoConflicts')
    bed.confirm(bed.documentOf(made)!)
    await bed.until('programmed', async () => {
      return said((await bed.listenerSet('more')).status?.conditions)['Programmed'] === 'True Programmed'
    })
    await bed.createListenerSet('far', 'sets', [{ hostname: 'far.example.org' }], 'team')
    await whenSet('far', 'False NotAllowed', 'team')
    await bed.change('gateways', 'sets', { spec: allowing('All') })
    await whenSet('far', 'True Accepted', 'team')
    await attached(2)
    await bed.until('its listener', () => hosts()?.includes('far.example.org 404') ?? false)
    // A route that waited behind an older one is served when that one goes.
    await bed.createListenerSet('next', 'sets', [{ hostname: 'more.example.org' }])
    await whenSet('next', 'False ListenersNotValid')
    await bed.remove('listenersets', 'more')
    await whenSet('next', 'True Accepted')
    await whenRoute('in-set', 'no parent', ({ status }) => status?.parents.length === 0)
    await bed.until('no route', () => hosts()?.includes('more.example.org forward') === false)
    await bed.change('httproutes', 'in-set', { spec: { parentRefs: [{ kind: 'ListenerSet', name: 'next' }] } })
    await bed.until('the route again', () => hosts()?.includes('more.example.org forward') ?? false)
    await bed.remove('gateways', 'sets')
    // Nobody serves it, so its status is as the API server made it.
    await whenSet('next', 'Unknown Pending')
    await whenSet('far', 'Unknown Pending', 'team')
    await whenRoute('in-set', 'no parent', ({ status }) => status?.parents.length === 0)
    await bed.remove('httproutes', 'in-set')
  })

  test('a ListenerSet ends TLS with a Secret of its namespace, whose certificate goes with it', async () => {
    const listeners = [{ name: 'own', port: 80, protocol: 'HTTP' }]
    const made = await bed.createGateway('shown', { listeners, ...allowing('Same') })
    const tls = { certificateRefs: [{ name: 'cert' }] }
    await bed.createListenerSet('shown', 'shown', [{ port: 443, protocol: 'HTTPS', hostname: 'set.example.org', tls }])
    await bed.createSecret('cert', 'set.example.org')
    await whenSet('shown', 'True Accepted')
    const https = () => bed.documentOf(made)?.listeners.find(({ port }) => port === 443)
    await bed.until('its certificate', () => https()?.tls?.certificateIds.join() === bed.certificates()[0]?.id)
    await bed.remove('listenersets', 'shown')
    await bed.until('no such listener', () => bed.documentOf(made)?.listeners.length === 1)
    await bed.until('no certificate', () => bed.certificates().length === 0)
    await bed.remove('gateways', 'shown')
  })

  test('a static address, and one that cannot be had', async () => {
    await bed.createGateway('static', { addresses: [{ type: 'IPAddress', value: '198.51.100.99' }] })
    await when('static', 'that address', (one) => addressOf(one) === '198.51.100.99')
    await bed.createGateway('unusable', { addresses: [{ type: 'IPAddress', value: '203.0.113.1' }] })
    const refused = await when('unusable', 'why', (one) => ofGateway(one)['Programmed'] === 'False AddressNotUsable')
    expect(ofGateway(refused)['Accepted']).toBe('True Accepted')
  })

  test('of two Gateways that want one address the first has it, and the other once that one goes', async () => {
    const addresses = [{ type: 'IPAddress', value: '198.51.100.98' }]
    const first = await bed.createGateway('first', { addresses })
    await when('first', 'the address', (one) => addressOf(one) === '198.51.100.98')
    const second = await bed.createGateway('second', { addresses })
    const refused = await when('second', 'why', (one) => ofGateway(one)['Programmed'] === 'False AddressNotUsable')
    expect(ofGateway(refused)['Accepted']).toBe('True Accepted')
    expect(addressOf(refused)).toBe('')
    expect(bed.documentOf(second)).toBeUndefined()
    expect(bed.documentOf(first)?.vips[0]?.address).toBe('198.51.100.98')
    await bed.remove('gateways', 'first')
    await when('second', 'the address', (one) => addressOf(one) === '198.51.100.98')
    await bed.remove('gateways', 'second')
    await bed.until('no load balancer', () => bed.documentOf(second) === undefined)
  })

  test('a route beyond the quota says that it is not served, and is once there is room', async () => {
    const gateway = await bed.createGateway('full')
    const rules = (path: string) => ({
      parentRefs: [{ name: 'full' }],
      rules: [{ matches: [{ path: { value: path } }], ...to('web') }],
    })
    await bed.createRoute('fits', rules('/fits'))
    await bed.until('the first', () => JSON.stringify(bed.documentOf(gateway)).includes('/fits'))
    const count = bed.documents().flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes)).length
    await bed.spout.admission.setQuota(bed.project.id, { routes: count }, {})
    await bed.createRoute('more', rules('/more'))
    await bed.until('the reason', async () =>
      isMatch(parentOf(await bed.route('more')), { Accepted: 'False OverQuota' }),
    )
    expect(parentOf(await bed.route('fits'))['Accepted']).toBe('True Accepted')
    // Routes that are served can still change, and make room.
    await bed.change('httproutes', 'fits', { spec: rules('/changed') })
    await bed.until('the change', () => JSON.stringify(bed.documentOf(gateway)).includes('/changed'))
    await bed.remove('httproutes', 'fits')
    await bed.until('the other', () => JSON.stringify(bed.documentOf(gateway)).includes('/more'))
    await bed.until('its status', async () => isMatch(parentOf(await bed.route('more')), { Accepted: 'True Accepted' }))
    await bed.spout.admission.setQuota(bed.project.id, { routes: 1000 }, {})
    await bed.remove('httproutes', 'more')
    await bed.remove('gateways', 'full')
    await bed.until('no load balancer', () => bed.documentOf(gateway) === undefined)
  })

  // 1,000 of each with SPOUT_LONG_TESTS=1.
  test('broken routes and Gateways beside good ones: these are served, and a change of one costs what it did before', {
    timeout: byLength(60_000, 900_000),
  }, async () => {
    const count = byLength(18, 1000)
    const patience = byLength(30_000, 300_000)
    const made = await bed.createGateway('crowd')
    await when('crowd', 'an address', (one) => addressOf(one) !== '')
    const good = (number: number, path = '/') => ({
      parentRefs: [{ name: 'crowd' }],
      hostnames: [goodHost(number)],
      rules: [{ matches: [{ path: { value: path } }], ...to('web') }],
    })
    const served = () =>
      (bed.documentOf(made)?.listeners[0]?.routes ?? []).flatMap(({ id, conditions, action }) =>
        action.type === 'forward' ? [{ id, host: conditions.find(({ on }) => on === 'host')?.values[0] }] : [],
      )
    const told = async (name: string, says: object) => {
      const route = await bed.route(name)
      const { status, metadata } = route
      const isCurrent = (status?.parents ?? []).every(({ conditions = [] }) =>
        conditions.every(({ observedGeneration }) => observedGeneration === metadata.generation),
      )
      return isCurrent && isMatch(parentOf(route), says)
    }
    /** What a change of a good route costs: calls to the control plane and writes to the API server. */
    const costOfAChange = async (path: string) => {
      await idle()
      running.calls.splice(0)
      running.writes.splice(0)
      await bed.change('httproutes', 'good-0', { spec: good(0, path) })
      await bed.until('the change', async () => JSON.stringify(bed.documentOf(made)).includes(path), patience)
      await bed.until('its status', () => told('good-0', { Accepted: 'True Accepted' }), patience)
      await idle()
      return { calls: [...running.calls], writes: [...running.writes] }
    }
    // More than broken and good routes together.
    await bed.spout.admission.setQuota(bed.project.id, { routes: 4000 }, {})
    await forEach(count, (number) => bed.createRoute(`good-${number}`, good(number)))
    await bed.until('the good ones', () => served().length === count, patience)
    const before = await costOfAChange('/before')
    expect(before).toEqual({ calls: ['changeRoutes'], writes: [expect.stringContaining('/httproutes/good-0/status')] })
    const servedBefore = served()

    running.writes.splice(0)
    const gateways = await createBrokenSurroundings(bed, Math.ceil(count / 20))
    await forEach(count, (number) => bed.createRoute(`broken-${number}`, brokenRoute(number).spec(number) as never))
    await forEach(count, (number) =>
      bed.until(`broken-${number}: why`, () => told(`broken-${number}`, brokenRoute(number).says), patience),
    )
    for (const name of gateways)
      await when(
        name,
        'why',
        (one) => said(ofListener(one)?.conditions)['ResolvedRefs'] === 'False InvalidCertificateRef',
      )
    await bed.until('an empty queue', () => running.controller.counters.queued === 0, patience)
    expect(served()).toEqual(servedBefore)
    // Nothing is written for good routes, and the status of each broken one is written once.
    expect(running.writes.filter((write) => write.includes('/httproutes/good-'))).toEqual([])
    expect(running.writes.filter((write) => write.includes('/httproutes/broken-'))).toHaveLength(count)
    expect(await costOfAChange('/after')).toEqual(before)

    for (const name of ['crowd', ...gateways]) await bed.remove('gateways', name)
    await forEach(count, async (number) => {
      for (const name of [`good-${number}`, `broken-${number}`]) await bed.remove('httproutes', name)
    })
    await bed.until('no load balancer', () => bed.documentOf(made) === undefined, patience)
    await bed.until('an empty queue', () => running.controller.counters.queued === 0, patience)
  })

  test('hundreds of routes that go or come at once in a table of thousands are several requests, and all arrive', async () => {
    const ROUTES_OF_ONE = 128
    /** A route of the cluster with as many matches as it may have, each a route of the load balancer. */
    const spec = (at: number) => ({
      parentRefs: [{ name: 'thousands', namespace: 'shop' }],
      rules: Array.from({ length: 16 }, (_, rule) => ({
        matches: Array.from({ length: 8 }, (_, match) => ({
          path: { type: 'Exact', value: `/${at}/${rule}/${match}` },
        })),
        filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 302, port: 8443 } }],
      })),
    })
    const label = (namespace: string, thousands: string) =>
      bed.api.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { thousands } } })
    for (const namespace of ['shop', 'team']) await label(namespace, 'yes')
    await bed.spout.admission.setQuota(bed.project.id, { routes: 4000 }, {})
    const allowedRoutes = { namespaces: { from: 'Selector', selector: { matchLabels: { thousands: 'yes' } } } }
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes }]
    const made = await bed.createGateway('thousands', { listeners })
    const routes = () => bed.documentOf(made)?.listeners[0]?.routes ?? []
    const arrived = (count: number) =>
      // Each listener ends with a route for the rest.
      bed.until(`${count} routes`, () => routes().length === count * ROUTES_OF_ONE + 1, 60_000)
    await forEach(17, (at) => bed.createRoute(`thousands-${at}`, spec(at)))
    await forEach(5, (at) => bed.createRoute(`hundreds-${at}`, spec(100 + at), 'team'))
    await arrived(22)
    await bed.until('an empty queue', () => running.controller.counters.queued === 0, 60_000)
    const whole = routes()

    running.calls.splice(0)
    await label('team', 'no')
    await arrived(17)
    const left = new Set(routes().map(({ id }) => id))
    expect(whole.filter(({ id }) => left.has(id)).map(({ name }) => name)).toEqual(routes().map(({ name }) => name))
    expect(running.calls).toEqual(['changeRoutes', 'changeRoutes'])

    running.calls.splice(0)
    await label('team', 'yes')
    await arrived(22)
    expect(routes().map(({ name, action }) => [name, action])).toEqual(whole.map(({ name, action }) => [name, action]))
    expect(running.calls).toEqual(['changeRoutes', 'changeRoutes'])

    await bed.remove('gateways', 'thousands')
    await forEach(17, (at) => bed.remove('httproutes', `thousands-${at}`))
    await forEach(5, (at) => bed.remove('httproutes', `hundreds-${at}`, 'team'))
    await bed.until('no load balancer', () => bed.documentOf(made) === undefined)
    await bed.spout.admission.setQuota(bed.project.id, { routes: 1000 }, {})
  })

  test('a restart changes nothing; what was deleted meanwhile goes', async () => {
    const stays = await bed.createGateway('stays')
    const goes = await bed.createGateway('goes', allowing('Same'))
    await bed.createListenerSet('left', 'goes', [{ hostname: 'left.example.org' }])
    await whenSet('left', 'True Accepted')
    await bed.until('both', () => bed.documentOf(stays) !== undefined && bed.documentOf(goes) !== undefined)
    await idle()
    await running.stop()
    const before = bed.documentOf(stays)
    await bed.remove('gateways', 'goes')
    running = await bed.start()
    await bed.until('gone', async () => (await bed.gateway('goes').catch(() => null)) === null)
    await idle()
    expect(running.calls).toEqual(['delete'])
    await whenSet('left', 'Unknown Pending')
    expect(bed.documentOf(stays)).toEqual(before)
    expect(bed.documentOf(goes)).toBeUndefined()
  })
})
