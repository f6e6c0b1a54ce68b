import { readFileSync } from 'node:fs'
import path from 'node:path'
import { customResourceDefinitions } from '@spout/custom-resources'
import {
  checkoutShell,
  documented,
  type KubernetesApiError,
  KubernetesCluster,
  Lab,
  LONGEST_BUILD_MS,
  must,
  type PageShell,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installGatewayApi } from '../../../intents/gateway/src/testing/install-gateway-api.fixture.ts'

/** The policies as the real API server decides by them. */

const PAGE = 'management-cluster.md'

let lab: Lab
let cluster: KubernetesCluster
let shell: PageShell
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  const { api } = cluster
  await installGatewayApi(api)
  const definition = customResourceDefinitions().find(({ metadata }) => metadata.name === 'loadbalancers.spout.dev')!
  await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await api.create('/api/v1/namespaces', { metadata: { name: 'platform' } })
  await api.create('/api/v1/namespaces', { metadata: { name: 'bare', labels: { 'spout.dev/tenant': 'b' } } })
  await must([...cluster.kubectl, 'apply', '--filename', '-'], { input: documented(PAGE, 'kind: Namespace') })
  shell = checkoutShell({ lab, cluster })
  const page = new TypedPage(PAGE, shell)
  await page.type('kubectl apply')
  expect(page.left).toEqual([])
  const isActive = async (one: Case) => (await refusalOf(one, 'bare')) !== null
  await waitFor(async () => (await Promise.all(GOOD.map(isActive))).every(Boolean), {
    what: 'the policies to be in force',
    timeoutMs: 60_000,
  })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await lab?.destroy()
})

interface Case {
  readonly kind: string
  readonly spec?: object
  readonly more?: object
  readonly annotations?: Readonly<Record<string, string>>
}

const API: Readonly<Record<string, readonly [api: string, apiVersion: string, plural: string]>> = {
  Ingress: ['/apis/networking.k8s.io/v1', 'networking.k8s.io/v1', 'ingresses'],
  Gateway: ['/apis/gateway.networking.k8s.io/v1', 'gateway.networking.k8s.io/v1', 'gateways'],
  ListenerSet: ['/apis/gateway.networking.k8s.io/v1', 'gateway.networking.k8s.io/v1', 'listenersets'],
  HTTPRoute: ['/apis/gateway.networking.k8s.io/v1', 'gateway.networking.k8s.io/v1', 'httproutes'],
  Service: ['/api/v1', 'v1', 'services'],
  EndpointSlice: ['/apis/discovery.k8s.io/v1', 'discovery.k8s.io/v1', 'endpointslices'],
  LoadBalancer: ['/apis/spout.dev/v1', 'spout.dev/v1', 'loadbalancers'],
}

/** The message with which the API server refuses the object; null: it takes it. Nothing is stored. */
async function refusalOf({ kind, spec, more, annotations }: Case, namespace: string): Promise<string | null> {
  const [api, apiVersion, plural] = API[kind]!
  const object = { apiVersion, kind, metadata: { name: 'one', ...(annotations && { annotations }) }, ...more }
  try {
    await cluster.api.create(`${api}/namespaces/${namespace}/${plural}?dryRun=All`, {
      ...object,
      ...(spec && { spec }),
    } as never)
    return null
  } catch (error) {
    return (error as KubernetesApiError).message
  }
}

const rootPath = { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }
const ingress = (spec: object, annotations: Readonly<Record<string, string>> = {}): Case => ({
  ...{ kind: 'Ingress', annotations },
  spec: { ingressClassName: 'spout', rules: [{ host: 'a.apps.example', http: { paths: [rootPath] } }], ...spec },
})
const hosts = (...names: string[]) => ({ rules: names.map((host) => ({ host, http: { paths: [rootPath] } })) })
const gateway = (listener: object, spec: object = {}): Case => ({
  kind: 'Gateway',
  spec: {
    gatewayClassName: 'spout',
    listeners: [{ name: 'l', port: 80, protocol: 'HTTP', hostname: '*.apps.example', ...listener }],
    ...spec,
  },
})
const listenerSet = (listener: object, parent: object = {}): Case => ({
  kind: 'ListenerSet',
  spec: {
    parentRef: { name: 'g', ...parent },
    listeners: [{ name: 'l', port: 80, protocol: 'HTTP', hostname: '*.apps.example', ...listener }],
  },
})
const route = (spec: object): Case => ({ kind: 'HTTPRoute', spec: { parentRefs: [{ name: 'g' }], ...spec } })
const service = (spec: object): Case => ({
  kind: 'Service',
  spec: { type: 'LoadBalancer', loadBalancerClass: 'spout', ports: [{ port: 443 }], ...spec },
})
const slice = (addresses: readonly string[], addressType = 'IPv4'): Case => ({
  kind: 'EndpointSlice',
  more: { addressType, endpoints: [{ addresses }], ports: [{ port: 80 }] },
})
const object = (listener: object, spec: object = {}): Case => ({
  kind: 'LoadBalancer',
  spec: { class: 'gold', listeners: [{ name: 'l', protocol: 'http', port: 8080, ...listener }], ...spec },
})
const on = (compare: string, ...values: string[]) => ({
  routes: [{ name: 'r', conditions: [{ type: 'host', compare, values }], action: { type: 'respond', code: 404 } }],
})
const pool = (address: string) => ({ pools: [{ name: 'p', protocol: 'http', members: [{ address, port: 80 }] }] })

/** Each is also refused in a namespace that is given nothing. */
const GOOD: readonly Case[] = [
  ingress(hosts('www.shop.example', 'A.apps.example'.toLowerCase(), '*.apps.example')),
  ingress({ tls: [{ hosts: ['a.b.apps.example'], secretName: 't' }] }),
  gateway({}),
  gateway({ port: 8999 }),
  listenerSet({}),
  route({ hostnames: ['x.apps.example'], rules: [{ backendRefs: [{ name: 'web', port: 80 }] }] }),
  service({}),
  slice(['10.20.3.4']),
  slice(['fd20::7'], 'IPv6'),
  object(on('exact', 'www.shop.example'), pool('10.20.0.9')),
  object(on('any-labels', 'apps.example'), { dnsNames: ['x.apps.example'] }),
]

test.each(GOOD.map((one, at) => [at, one.kind, one] as const))(
  'what is given is taken: %i %s',
  async (_, _kind, one) => {
    expect(await refusalOf(one, 'shop')).toBeNull()
  },
)

test.each<readonly [string, Case]>([
  ['spec.rules[].host: no domain', ingress(hosts('www.other.example'))],
  ['spec.rules[].host: no domain', ingress(hosts('www.shop.example', 'apps.example'))],
  ['spec.rules[].host: no domain', ingress(hosts('*.shop.example'))],
  ['spec.rules[].host: no domain', ingress({ rules: [{ http: { paths: [rootPath] } }] })],
  ['spec.rules[].host: no domain', ingress(hosts('wwwxshop.example'))],
  ['spec.tls[].hosts: no domain', ingress({ tls: [{ hosts: ['www.other.example'], secretName: 't' }] })],
  ['spec.defaultBackend: ', ingress({ defaultBackend: rootPath.backend })],
  ['spec.ingressClassName: is none', ingress({ ingressClassName: 'nginx' })],
  ['metadata.annotations: snippets', ingress({}, { 'nginx.ingress.kubernetes.io/server-snippet': 'x' })],
  ['server-alias]: no domain', ingress({}, { 'nginx.ingress.kubernetes.io/server-alias': 'a.apps.example,b.other' })],
  ['hostname]: no domain', ingress({}, { 'external-dns.kubernetes.io/hostname': 'www.other.example' })],
  ['spec.listeners[].hostname: no domain', gateway({ hostname: 'other.example' })],
  ['spec.listeners[].hostname: no domain', gateway({ hostname: undefined })],
  ['spec.listeners[].port: is none', gateway({ port: 22 })],
  ['spec.gatewayClassName: is none', gateway({}, { gatewayClassName: 'istio' })],
  ['spec.listeners[].hostname: no domain', listenerSet({ hostname: 'other.example' })],
  ['spec.listeners[].hostname: no domain', listenerSet({ hostname: undefined })],
  ['spec.listeners[].port: is none', listenerSet({ port: 22 })],
  ['spec.parentRef.namespace', listenerSet({}, { namespace: 'platform' })],
  ['spec.hostnames: no domain', route({ hostnames: ['x.apps.example', 'x.other.example'] })],
  ['spec.parentRefs[].namespace', route({ parentRefs: [{ name: 'g', namespace: 'platform' }] })],
  ['backendRefs[].namespace', route({ rules: [{ backendRefs: [{ name: 'w', port: 80, namespace: 'platform' }] }] })],
  ['spec.ports[].port: is none', service({ ports: [{ port: 6443 }] })],
  ['spec.loadBalancerClass: is none', service({ loadBalancerClass: 'other.example/x' })],
  ['spec.loadBalancerClass: is none', service({ loadBalancerClass: undefined })],
  ['spec.externalIPs: ', service({ externalIPs: ['10.20.0.1'] })],
  [
    'ExternalName is not allowed',
    { kind: 'Service', spec: { type: 'ExternalName', externalName: 'metadata.internal' } },
  ],
  ['endpoints[].addresses: is in none', slice(['10.20.3.4', '10.21.0.1'])],
  ['endpoints[].addresses: is in none', slice(['fd21::1'], 'IPv6')],
  ['endpoints[].addresses: is in none', slice(['api.internal.example'], 'FQDN')],
  ['spec.class: is none', object({}, { class: 'iron' })],
  ['spec.listeners[].port: is none', object({ port: 22 })],
  ['conditions[].values: no domain', object(on('exact', 'www.other.example'))],
  ['conditions[].values: no domain', object(on('one-label', 'shop.example'))],
  ['conditions[].values: no domain', object(on('contains', 'apps.example'))],
  ['spec.pools[].members[].address: is in none', object({}, pool('169.254.169.254'))],
  ['spec.dnsNames: no domain', object({}, { dnsNames: ['www.other.example'] })],
])('what is not given is refused, and why is said: %s %j', async (message, one) => {
  expect(await refusalOf(one, 'shop')).toContain(message)
})

test('a cluster takes the rights for Gateways as their page says', async () => {
  const page = new TypedPage('gateway-api.md', shell)
  await page.type('kubectl apply')
  expect(page.left).toEqual([])
  const at = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/spout-connector-gateways'
  expect(await cluster.api.get(at)).toMatchObject({ subjects: [{ name: 'connector', namespace: 'spout' }] })
})

test('namespaces of the provider are not restricted, and an old object can still be deleted', async () => {
  expect(await refusalOf(ingress(hosts('www.other.example'), {}), 'platform')).toBeNull()
  const { api } = cluster
  const at = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses'
  const { spec } = ingress({})
  const metadata = { name: 'old', finalizers: ['example.com/x'] }
  await api.create(at, { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec } as never)
  await api.patch('/api/v1/namespaces/shop', { metadata: { annotations: { 'spout.dev/classes': 'gold' } } })
  await waitFor(async () => (await refusalOf(ingress({}), 'shop')) !== null, {
    what: 'the class to be taken away',
    timeoutMs: 30_000,
  })
  await api.delete(`${at}/old`)
  await api.patch(`${at}/old`, { metadata: { finalizers: null } })
  await waitFor(async () => (await api.get(`${at}/old`).catch(() => null)) === null, {
    what: 'the object to go',
    timeoutMs: 30_000,
  })
})

test('members are written as the page says', async () => {
  const slice = documented(PAGE, 'kind: EndpointSlice')
  const apply = ['apply', '--dry-run=server', '--validate=strict', '--filename', '-']
  expect(await must([...cluster.kubectl, ...apply], { input: slice })).toContain('web-1 created')
  await expect(
    must([...cluster.kubectl, ...apply], { input: slice.replace('10.20.3.4', '10.21.3.4') }),
  ).rejects.toThrow(/spout\.dev\/networks/)
})

test('a refusal is worded as the page says', async () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs', PAGE), 'utf8')
  const [, words = ''] = /^(ingresses\.networking\.k8s\.io "web" is forbidden: .*)$/m.exec(page) ?? []
  expect(words).not.toBe('')
  // Tests before this one take classes away.
  await must([...cluster.kubectl, 'apply', '--filename', '-'], { input: documented(PAGE, 'kind: Namespace') })
  const other = ingress(hosts('bank.example'))
  const isWorded = async () => (await refusalOf(other, 'shop'))?.includes(words.replace('"web"', '"one"'))
  await waitFor(isWorded, { what: 'the refusal of the page', timeoutMs: 60_000 })
})
