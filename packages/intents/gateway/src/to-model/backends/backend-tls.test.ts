import { describe, expect, test } from 'vitest'
import type { BackendTlsPolicyObject, BackendTlsPolicySpec, PolicyTarget } from '../../objects/backend-tls-policy.ts'
import { routeWith, serviceOf, surroundingsOf, TLS_ID, to } from '../../testing/objects.ts'
import { policyAncestors } from '../../write-back/policy-status.ts'
import { backendResolver } from '../gateways/backend-resolver.ts'
import { compileRules } from '../rules/http-rules.ts'
import { authoritiesOfPolicy, type CertificateOf, judgePolicy, policyOfPort, servicesOfPolicy } from './backend-tls.ts'

const web: PolicyTarget = { group: '', kind: 'Service', name: 'web' }
const ca = (name: string, kind = 'ConfigMap') => ({ group: '', kind, name })
const policyWith = (
  { targetRefs = [web], validation = {} }: { targetRefs?: PolicyTarget[]; validation?: object } = {},
  { name = 'p', createdAt = '2026-01-01T00:00:00Z' } = {},
): BackendTlsPolicyObject => ({
  metadata: { name, namespace: 'shop', generation: 3, creationTimestamp: createdAt },
  spec: {
    targetRefs,
    validation: { hostname: 'Web.internal', caCertificateRefs: [ca('ca')], ...validation },
  } as BackendTlsPolicySpec,
})
/** There is one ConfigMap, `ca`. */
const certificateOf: CertificateOf = (key) =>
  key === 'ConfigMap/shop/ca'
    ? { type: 'ready', certificate: { id: TLS_ID, name: key, tags: [], names: [] }, notice: null }
    : { type: 'refused', refusal: { reason: 'ConfigMapNotFound', field: 'configMap', message: 'There is none.' } }
const judge = (policy: BackendTlsPolicyObject, others: BackendTlsPolicyObject[] = []) =>
  judgePolicy(policy, others, certificateOf)

test('names Services and ConfigMaps of its namespace, and nothing else', () => {
  const other = { ...web, kind: 'Bucket', name: 'b' }
  expect(servicesOfPolicy(policyWith({ targetRefs: [web, other] }))).toEqual(['shop/web'])
  const caCertificateRefs = [ca('ca'), ca('s', 'Secret')]
  expect([...authoritiesOfPolicy(policyWith({ validation: { caCertificateRefs } }))]).toEqual(['ConfigMap/shop/ca'])
})

test('is accepted with authorities and a name', () => {
  const tls = { caCertificateId: TLS_ID, serverName: 'web.internal' }
  expect(judge(policyWith())).toEqual({ refused: null, unresolved: null, tls })
  const subjectAltNames = [{ type: 'Hostname', hostname: 'Web.internal' }]
  expect(judge(policyWith({ validation: { subjectAltNames } })).tls).toEqual(tls)
})

test.each([
  ['a missing ConfigMap', { caCertificateRefs: [ca('x')] }, 'NoValidCACertificate', 'InvalidCACertificateRef'],
  ['another kind', { caCertificateRefs: [ca('ca', 'Secret')] }, 'NoValidCACertificate', 'InvalidKind'],
  ['two', { caCertificateRefs: [ca('ca'), ca('ca')] }, 'NoValidCACertificate', 'InvalidCACertificateRef'],
  ['those of a system', { caCertificateRefs: [], wellKnownCACertificates: 'System' }, 'Invalid', undefined],
  ['another name', { subjectAltNames: [{ type: 'Hostname', hostname: 'x.org' }] }, 'Invalid', undefined],
  ['a URI', { subjectAltNames: [{ type: 'URI', uri: 'spiffe://a/b' }] }, 'Invalid', undefined],
])('trusts nothing: %s', (_, validation, accepted, resolved) => {
  const { refused, unresolved, tls } = judge(policyWith({ validation }))
  expect([refused?.reason, unresolved?.reason, tls]).toEqual([accepted, resolved, null])
})

test('trusts nothing once the ConfigMap is none, whatever it held before', () => {
  const notice = { reason: 'InvalidAuthorities', field: 'data', message: 'It is empty.' }
  const broken: CertificateOf = (key) => ({ ...certificateOf(key), notice }) as ReturnType<CertificateOf>
  const { refused, unresolved, tls } = judgePolicy(policyWith(), [], broken)
  expect([refused?.reason, unresolved?.reason, tls]).toEqual(['NoValidCACertificate', 'InvalidCACertificateRef', null])
})

describe('of several for one Service', () => {
  const older = policyWith({}, { name: 'z', createdAt: '2025-01-01T00:00:00Z' })
  const ofPort = policyWith({ targetRefs: [{ ...web, sectionName: 'https' }] }, { name: 'port' })

  test('the older counts, the other conflicts; of one age the name decides', () => {
    const all = [policyWith(), older]
    expect(all.map((one) => judge(one, all).refused?.reason)).toEqual(['Conflicted', undefined])
    const same = [policyWith({}, { name: 'b' }), policyWith({}, { name: 'a' })]
    expect(same.map((one) => judge(one, same).refused?.reason)).toEqual(['Conflicted', undefined])
  })

  test('one that names the port stands before one that does not, without a conflict', () => {
    const all = [older, ofPort]
    expect(all.map((one) => judge(one, all).refused)).toEqual([null, null])
    expect(policyOfPort(all, 'shop/web', 'https')).toBe(ofPort)
    expect(policyOfPort(all, 'shop/web', 'http')).toBe(older)
    expect(policyOfPort([ofPort], 'shop/web', 'http')).toBeNull()
    expect(policyOfPort(all, 'shop/other', 'http')).toBeNull()
  })
})

describe('backends of rules', () => {
  const compiled = (tls: object | null) => {
    const own = surroundingsOf([serviceOf('web', { ports: [{ port: 8080, appProtocol: 'https' }] })])
    const route = routeWith({ rules: [{ backendRefs: [to('web')] }] })
    const resolve = backendResolver(route, { ...own, tlsOf: () => tls as never })
    const listener = { name: 'web', protocol: 'HTTP', port: 80 }
    return compileRules({ metadata: route.metadata, rules: route.spec.rules ?? [] }, [''], listener, resolve)
  }

  test('have a pool of their own, also where the Service says that it speaks TLS', () => {
    const tls = { caCertificateId: TLS_ID, serverName: 'web.internal' }
    const { backends, unresolved } = compiled(tls)
    expect([...backends]).toMatchObject([['shop/web:8080/tls', { tls }]])
    expect(unresolved).toBeNull()
  })

  test('that cannot be trusted get no request, and the reference resolves', () => {
    const { routes, backends, unresolved } = compiled(null)
    expect([routes[0]?.content.action, backends.size, unresolved]).toEqual([{ type: 'respond', code: 500 }, 0, null])
  })
})

test('a status has an entry for each of our Gateways, and those of others as they are', () => {
  const theirs = { ancestorRef: { name: 'x' }, controllerName: 'x.org/y' }
  const policy = { ...policyWith(), status: { ancestors: [theirs] } }
  const shown = policyAncestors(policy, judge(policy), ['shop/a', 'shop/b'], '2026-01-01T00:00:00Z')
  expect(shown.map(({ ancestorRef }) => ancestorRef.name)).toEqual(['x', 'a', 'b'])
  expect(shown[0]).toBe(theirs)
  expect(
    shown[1]?.conditions?.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
  ).toEqual([
    ['Accepted', 'True', 3],
    ['ResolvedRefs', 'True', 3],
  ])
  expect(policyAncestors({ ...policy, status: { ancestors: shown } }, judge(policy), [], 'x')).toEqual([theirs])
})
