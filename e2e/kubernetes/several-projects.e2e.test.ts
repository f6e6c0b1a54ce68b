import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addressOf, type DnsRecord, NameServer, TYPES, textOf } from '@spout/dns'
import {
  bundled,
  Caller,
  callApi,
  KubernetesCluster,
  LONGEST_BUILD_MS,
  PRODUCT_ENVIRONMENT,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installGatewayApi } from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { ACME, BOLT, PORT } from '../fixtures.ts'
import { servicesIn } from './services.ts'

// One cluster, whose namespaces `acme` and `bolt` are projects with networks of their own. Their members have the same
// addresses, so whoever mixed the projects up would reach the other's. Names are published to a real BIND.
const ZONE = 'apps.example.org'
const CONNECTOR = bundled(path.resolve(import.meta.dirname, '../../apps/connector/src/main.ts'))
const NAMESPACES = ['acme', 'bolt'] as const
type Namespace = (typeof NAMESPACES)[number]
const MEMBERS: Readonly<Record<Namespace, RegExp>> = { acme: /^tenant-a-member[12]$/, bolt: /^tenant-b-member[12]$/ }
const GATEWAYS = 'gateway.networking.k8s.io/v1'
const NETWORKING = 'networking.k8s.io/v1'

let directory = ''
let bind: TestNameServer
let system: TestSystem
let cluster: KubernetesCluster
let client: Caller
let original: readonly string[]

beforeAll(async () => {
  bind = await TestNameServer.start([{ name: ZONE }])
  original = await zone()
  const [key] = bind.keys
  directory = mkdtempSync(path.join(tmpdir(), 'spout-dns-'))
  const secretFile = path.join(directory, 'secret')
  writeFileSync(secretFile, `${key!.secret}\n`, { mode: 0o600 })
  const zones = [{ name: ZONE, host: bind.host, port: bind.port, keyName: key!.name, secretFile }]
  system = await TestSystem.start({
    ...{ tenants: [ACME, BOLT], nodes: ['node1'] },
    set: [`dns.zones=${JSON.stringify(zones)}`, 'dns.ttlSeconds=300'],
  })
  const { access, lab } = system
  for (const { networkId } of system.tenants) {
    const subnet = { name: 'subnet6', cidr: 'fd10::/64', gatewayIp: 'fd10::1' }
    await system.api(access.admin, 'POST', `/networks/${networkId}/subnets`, subnet)
  }
  await system.api(access.admin, 'POST', '/address-pools', {
    ...{ name: 'public6', cidr: '2001:db8:f::/64', gatewayIp: '2001:db8:f::1' },
    ranges: [{ first: '2001:db8:f::100', last: '2001:db8:f::ffff' }],
  })
  for (const [at, tenant] of system.tenants.entries())
    await system.api(access.admin, 'PATCH', `/projects/${tenant.projectId}`, {
      domains: [`*.${NAMESPACES[at]}.${ZONE}`],
    })
  cluster = await KubernetesCluster.start(lab)
  await installGatewayApi(cluster.api)
  await cluster.api.create(`/apis/${GATEWAYS}/gatewayclasses`, {
    ...{ apiVersion: GATEWAYS, kind: 'GatewayClass', metadata: { name: 'spout' } },
    spec: { controllerName: 'spout.dev/gateway' },
  } as object)
  await cluster.api.create(`/apis/${NETWORKING}/ingressclasses`, {
    ...{ metadata: { name: 'spout' }, spec: { controller: 'spout.dev/ingress' } },
  } as object)
  for (const name of [...NAMESPACES, 'free']) await cluster.api.create('/api/v1/namespaces', { metadata: { name } })
  const projects = []
  for (const [at, tenant] of system.tenants.entries()) projects.push(await ruleOf(tenant, NAMESPACES[at]!))
  const settings = [
    `spout.endpoint=${access.endpoint}`,
    `kubernetes.kubeconfig=${cluster.kubeconfigFile}`,
    `projects=${JSON.stringify(projects)}`,
    ...['leader.elect=false', 'http.host=127.0.0.1', 'http.port=0'],
  ]
  const argv = [process.execPath, CONNECTOR, ...settings.flatMap((setting) => ['--set', setting])]
  await lab.start('host', 'connector', argv, { env: PRODUCT_ENVIRONMENT, readyText: '"event":"listening"' })
  client = await Caller.start(lab, 'client')
  for (const namespace of NAMESPACES) await createAll(namespace)
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await cluster?.destroy()
  await system?.destroy()
  await bind?.stop()
  if (directory !== '') rmSync(directory, { recursive: true })
})

async function ruleOf({ projectId, project, networkId }: Tenant, name: Namespace) {
  const { admin, endpoint } = system.access
  const user = { name: `connector-${name}`, password: 'in-the-lab' }
  await system.api(admin, 'POST', '/users', { ...user, roles: [{ projectId, role: 'balancer' }] })
  const login = { userName: user.name, password: user.password, projectName: project }
  const { token } = await callApi<{ token: string }>(endpoint, '', 'POST', '/tokens', login)
  const tokenFile = path.join(system.lab.directory, `connector-${name}`)
  writeFileSync(tokenFile, token, { mode: 0o600 })
  return { name, namespaces: [name], tokenFile, network: networkId }
}

const at = (namespace: Namespace, label: string): string => `${label}.${namespace}.${ZONE}`
const ingressesOf = (namespace: string): string => `/apis/${NETWORKING}/namespaces/${namespace}/ingresses`
const gatewaysOf = (namespace: string): string => `/apis/${GATEWAYS}/namespaces/${namespace}/gateways`
const ttl = { 'external-dns.kubernetes.io/ttl': '60' }

/** A Service without a selector: its endpoints are the members of the lab that are in the project's own network. */
async function createService(namespace: Namespace, name: string, spec: object): Promise<void> {
  await cluster.api.create(servicesIn(namespace), {
    metadata: { name },
    spec: { ports: [{ name: 'http', port: 80, targetPort: PORT.http, protocol: 'TCP' }], ...spec },
  } as object)
  for (const [addressType, addresses] of [
    ['IPv4', ['10.0.0.11', '10.0.0.12']],
    ['IPv6', ['fd10::11', 'fd10::12']],
  ] as const)
    await cluster.api.create(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: { name: `${name}-${addressType.toLowerCase()}`, labels: { 'kubernetes.io/service-name': name } },
      ...{ addressType, ports: [{ name: 'http', port: PORT.http, protocol: 'TCP' }] },
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    } as object)
}

const createIngress = (namespace: string, name: string, hosts: readonly string[]) =>
  cluster.api.create(ingressesOf(namespace), {
    metadata: { name, annotations: ttl },
    spec: {
      ingressClassName: 'spout',
      rules: hosts.map((host) => ({
        host,
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
        },
      })),
    },
  } as object)

async function createAll(namespace: Namespace): Promise<void> {
  await createService(namespace, 'web', { type: 'ClusterIP' })
  await createService(namespace, 'direct', { type: 'LoadBalancer' })
  await createIngress(namespace, 'shop', [at(namespace, 'shop')])
  await cluster.api.create(gatewaysOf(namespace), {
    ...{ apiVersion: GATEWAYS, kind: 'Gateway' },
    metadata: {
      name: 'shop',
      annotations: { ...ttl, 'external-dns.kubernetes.io/hostname': at(namespace, 'extra') },
    },
    spec: { gatewayClassName: 'spout', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  } as object)
  await cluster.api.create(`/apis/${GATEWAYS}/namespaces/${namespace}/httproutes`, {
    ...{ apiVersion: GATEWAYS, kind: 'HTTPRoute', metadata: { name: 'api' } },
    spec: {
      parentRefs: [{ name: 'shop' }],
      hostnames: [at(namespace, 'api')],
      rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
    },
  } as object)
}

interface Shown {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
    readonly addresses?: readonly { readonly value: string }[]
  }
}
/** The addresses that an object shows, sorted. */
async function addressesOf(pathOfObject: string): Promise<readonly string[]> {
  const { status } = await cluster.api.get<Shown>(pathOfObject)
  const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  return [...ingress, ...(status?.addresses ?? []).map(({ value }) => value)].toSorted()
}
/** Who answers at an address for a host; the status if it is not 200. */
async function whoAnswers(address: string, host: string): Promise<string | number> {
  const outcome = await client.http(address, 80, { headers: { host } })
  if (!outcome.ok) return 0
  return outcome.value.status === 200
    ? (JSON.parse(outcome.value.body) as { readonly member: string }).member
    : outcome.value.status
}
const until = <T>(what: string, probe: () => Promise<T | false | null>) => waitFor(probe, { what, timeoutMs: 60_000 })

function nameServer(): NameServer {
  const { name, algorithm, secret } = bind.keys[1]!
  const key = { name, algorithm, secret: Buffer.from(secret, 'base64') }
  return new NameServer({ host: bind.host, port: bind.port, key })
}
const zone = async (): Promise<readonly string[]> =>
  (await nameServer().transfer(ZONE))
    .filter(({ type }) => type !== TYPES.SOA)
    .map(textOfRecord)
    .toSorted()
function textOfRecord(record: DnsRecord): string {
  const { name, type, ttl: seconds } = record
  if (type === TYPES.A || type === TYPES.AAAA) return `${name} ${seconds} ${addressOf(record)}`
  return type === TYPES.TXT ? `${name} ${textOf(record).replace(/\/[^/]*$/, '')}` : `${name} ${type}`
}
const recordsOf = async (name: string): Promise<readonly string[]> =>
  (await zone()).filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
/** Waits until a name has exactly these addresses. */
const published = (name: string, addresses: readonly string[], seconds = 60) =>
  until(`${name} to be at ${addresses.join(' and ')}`, async () => {
    const expected = addresses.map((address) => `${seconds} ${address}`).toSorted()
    return JSON.stringify(await recordsOf(name)) === JSON.stringify(expected)
  })
const shopOf = (namespace: string) => addressesOf(`${ingressesOf(namespace)}/shop`)
const gatewayOf = (namespace: string) => addressesOf(`${gatewaysOf(namespace)}/shop`)
const eventsOf = async (namespace: string): Promise<readonly string[]> => {
  const list = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
  const { items } = await cluster.api.get<{
    items: readonly { regarding: { kind: string; name: string }; reason: string; note: string }[]
  }>(list)
  return items.map(({ regarding, reason, note }) => `${regarding.kind}/${regarding.name} ${reason} ${note}`)
}

describe.each(NAMESPACES)('namespace %s', (namespace) => {
  it.each([
    ['Service', () => addressesOf(`${servicesIn(namespace)}/direct`), 'any.example.org'],
    ['Ingress', () => shopOf(namespace), at(namespace, 'shop')],
    ['Gateway', () => gatewayOf(namespace), at(namespace, 'api')],
  ] as const)("its %s reaches the project's own members, and no other", async (_kind, addresses, host) => {
    const [address] = await until('an address that answers', async () => {
      const found = await addresses()
      return found[0] !== undefined && typeof (await whoAnswers(found[0], host)) === 'string' && found
    })
    const answers = []
    for (let count = 0; count < 20; count++) answers.push(await whoAnswers(address ?? '', host))
    for (const answer of answers) expect(answer).toMatch(MEMBERS[namespace])
  })

  it('its hosts and annotated names have records of their addresses, each with its owner', async () => {
    // An Ingress has one of each family of its network, a Gateway that names none has one.
    const [shop, gateway] = await until('their addresses', async () => {
      const found = [await shopOf(namespace), await gatewayOf(namespace)] as const
      return found[0].length === 2 && found[1].length === 1 && found
    })
    for (const [label, addresses] of [
      ['shop', shop],
      ['api', gateway],
      ['extra', gateway],
    ] as const) {
      await published(at(namespace, label), addresses)
      const projectId = system.tenants[NAMESPACES.indexOf(namespace)]?.projectId
      const owner = `heritage=external-dns,external-dns/owner=spout,external-dns/resource=spout/${projectId}`
      for (const type of addresses.map((one) => (one.includes(':') ? 'aaaa' : 'a')))
        expect(await recordsOf(`${type}-${at(namespace, label)}`)).toEqual([owner])
    }
  })
})

it('a host of another project is refused: neither served, nor published anew', async () => {
  const [stolen, own] = [at('acme', 'shop'), at('bolt', 'other')]
  const before = await recordsOf(stolen)
  await createIngress('bolt', 'thief', [stolen, at('acme', 'new'), own])
  const [address = ''] = await shopOf('bolt')
  await until('its own host', async () => typeof (await whoAnswers(address, own)) === 'string')
  expect(await whoAnswers(address, stolen)).toBe(404)
  expect(await whoAnswers((await shopOf('acme'))[0] ?? '', stolen)).toMatch(MEMBERS.acme)
  await published(own, await shopOf('bolt'))
  expect([await recordsOf(stolen), await recordsOf(at('acme', 'new'))]).toEqual([before, []])
  const told = await until('the events', async () => {
    const found = (await eventsOf('bolt')).filter((line) => line.includes('HostNotAllowed'))
    return found.length >= 2 && found
  })
  expect(told.toSorted()[0]).toContain(`"${stolen}" is not served: a domain of another project covers it.`)
})

it('objects of a namespace without a project are left alone, and told why', async () => {
  await createIngress('free', 'shop', [at('acme', 'free')])
  await cluster.api.create(gatewaysOf('free'), {
    ...{ apiVersion: GATEWAYS, kind: 'Gateway', metadata: { name: 'shop' } },
    spec: { gatewayClassName: 'spout', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  } as object)
  const why = 'NoProject Namespace "free" belongs to no project that the connector serves.'
  const told = await until('both events', async () => {
    const found = await eventsOf('free')
    return found.length >= 2 && found
  })
  expect(told.toSorted()).toEqual([`Gateway/shop ${why}`, `Ingress/shop ${why}`])
  expect([await shopOf('free'), await gatewayOf('free')]).toEqual([[], []])
})

it('records follow the address', async () => {
  const wanted = '198.51.100.77'
  const before = await gatewayOf('acme')
  await cluster.api.patch(`${gatewaysOf('acme')}/shop`, { spec: { addresses: [{ type: 'IPAddress', value: wanted }] } })
  const after = await until('the new address', async () => {
    const found = await gatewayOf('acme')
    return found.includes(wanted) && !found.includes(before[0] ?? '') && found
  })
  await published(at('acme', 'api'), after)
  expect(await whoAnswers(wanted, at('acme', 'api'))).toMatch(MEMBERS.acme)
})

it('with the objects all records go, those that say whose they are as well', async () => {
  for (const namespace of NAMESPACES) {
    await cluster.api.delete(`${gatewaysOf(namespace)}/shop`)
    for (const name of namespace === 'bolt' ? ['shop', 'thief'] : ['shop'])
      await cluster.api.delete(`${ingressesOf(namespace)}/${name}`)
  }
  await until('the zone to be as it was', async () => JSON.stringify(await zone()) === JSON.stringify(original))
})
