import { LONGEST_BUILD_MS, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENT } from '../fixtures.ts'
import { type CloudProviderLab, gardenersCloudConfig, startCloudProviderLab } from './cloud-provider-lab.ts'
import { startWorkload } from './workloads.ts'

const WORKERS = ['10.0.0.32', '10.0.0.33']
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers'
const INTERNAL = 'service.beta.kubernetes.io/openstack-internal-load-balancer'
const LOAD_BALANCER = 'loadbalancer.openstack.org'
const HTTP = { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }

let lab: CloudProviderLab
beforeAll(async () => {
  lab = await startCloudProviderLab()
  await startWorkload(lab, { name: 'web', replicas: 2 })
  await startWorkload(lab, { name: 'single', replicas: 1, node: 'worker1' })
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

/** The members of the Service's first pool, with what is known of each, such as `10.0.0.32 up`. */
async function members(name: string): Promise<readonly string[]> {
  const lb = await lab.loadBalancerOf(name)
  return (lb?.pools[0]?.members ?? [])
    .map(({ id, address }) => `${address} ${lb?.status.members[id]?.health ?? '-'}`)
    .sort()
}

const reaches = (name: string, wanted: readonly string[]) =>
  waitFor(async () => (await members(name)).join() === wanted.join(), {
    what: `the members of ${name} to be ${wanted.join(' and ')}`,
    timeoutMs: 60_000,
  })

/** Annotations of cloud-provider-openstack. */
const named = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${LOAD_BALANCER}/${name}`, value]))

interface SecurityGroup {
  readonly name: string
  readonly security_group_rules: readonly object[]
}

/** The security groups that cloud-provider-openstack made for a Service. */
async function groupsOf(service: string): Promise<readonly SecurityGroup[]> {
  const { endpoint } = lab.system.access
  const headers = { 'x-auth-token': lab.tenant.token }
  const answer = await fetch(`${endpoint}/network/v2.0/security-groups`, { headers })
  const { security_groups: groups } = (await answer.json()) as { security_groups: readonly SecurityGroup[] }
  return groups.filter(({ name }) => name.startsWith('lb-sg-') && name.endsWith(`-default-${service}`))
}

const atLeastOne = <T>(found: readonly T[]): readonly T[] | null => (found.length > 0 ? found : null)

const up = WORKERS.map((address) => `${address} up`)

const refused = (address: string, port = 80) =>
  waitFor(async () => !(await lab.client.tcp(address, port, { timeoutMs: 500 })).ok, {
    what: `nobody to answer at ${address}`,
    timeoutMs: 60_000,
  })

/** What the API of load balancers shows of one beside what all tests look at. */
interface Settings {
  readonly classId?: string
  readonly listeners: readonly {
    readonly protocol: string
    readonly connectionLimit: number | null
    readonly timeouts: { readonly clientMs: number }
  }[]
  readonly pools: readonly { readonly protocol: string }[]
}

const settingsOf = async (name: string): Promise<Settings> => (await lab.loadBalancerOf(name)) as unknown as Settings

describe('Services kept by cloud-provider-openstack', () => {
  it('are load balancers over all nodes, with a floating IP', async () => {
    await lab.expose('web', 'web')
    const address = await lab.answering('web')
    await reaches('web', up)
    const pods = new Set<string>()
    await waitFor(async () => pods.add((await lab.ask(address))?.pod ?? '').size === 2, { what: 'both pods to answer' })
  })

  it('lose an excluded node and get it back without a failed request', async () => {
    const address = await lab.answering('web')
    const failed: string[] = []
    let stopping = false
    const asking = (async () => {
      while (!stopping) {
        const outcome = await lab.client.http(address, 80)
        if (!outcome.ok || outcome.value.status !== 200) failed.push(JSON.stringify(outcome))
      }
    })()
    await lab.cluster.api.patch('/api/v1/nodes/worker1', { metadata: { labels: { [EXCLUDED]: 'true' } } })
    await reaches('web', up.slice(1))
    await lab.cluster.api.patch('/api/v1/nodes/worker1', { metadata: { labels: { [EXCLUDED]: null } } })
    await reaches('web', up)
    stopping = true
    await asking
    expect(failed).toEqual([])
  })

  it('are limited to their source ranges, and open again', async () => {
    const address = await lab.answering('web')
    await lab.change('web', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } })
    await refused(address)
    await lab.change('web', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24', `${CLIENT}/32`] } })
    await lab.answering('web')
    await lab.change('web', { spec: { loadBalancerSourceRanges: null } })
    await lab.answering('web')
  })

  it('get a second port and one of UDP, and lose them', async () => {
    const address = await lab.answering('web')
    const more = [
      { ...HTTP, name: 'other', port: 8080 },
      { name: 'echo', port: 9001, targetPort: 'echo', protocol: 'UDP' },
    ]
    await lab.change('web', { spec: { ports: [HTTP, ...more] } })
    await waitFor(() => lab.ask(address, 8080), { what: 'the second port to answer', timeoutMs: 60_000 })
    await waitFor(async () => (await lab.client.udp(address, 9001, 'hello')).ok, {
      what: 'an echo',
      timeoutMs: 60_000,
    })
    await lab.change('web', { spec: { ports: [HTTP] } })
    await refused(address, 8080)
    // The ports are refused once they have no pools; their listeners go after these.
    await waitFor(async () => (await lab.loadBalancerOf('web'))?.listeners.length === 1, {
      what: 'their listeners to be gone',
      timeoutMs: 60_000,
    })
  })

  it('are public no more once they are internal, and public again', async () => {
    const address = await lab.answering('web')
    await lab.change('web', { metadata: { annotations: { [INTERNAL]: 'true' } } })
    await refused(address)
    await lab.change('web', { metadata: { annotations: { [INTERNAL]: null } } })
    await lab.answering('web')
  })

  it('of policy Local keep to nodes with a pod', async () => {
    await lab.expose('single', 'single', { externalTrafficPolicy: 'Local' })
    const address = await lab.answering('single')
    await reaches('single', [`${WORKERS[0]} up`, `${WORKERS[1]} down`])
    for (let asked = 0; asked < 10; asked++) expect((await lab.ask(address))?.node).toBe('worker1')
  })

  it('are made ten at once', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `many${n}`)
    await Promise.all(names.map((name) => lab.expose(name, 'web')))
    const addresses = await Promise.all(names.map((name) => lab.answering(name)))
    expect(new Set(addresses).size).toBe(10)
    await Promise.all(names.map((name) => lab.remove(name)))
  })

  it('share a load balancer, which stays when the second goes', async () => {
    const address = await lab.answering('web')
    const owner = await lab.loadBalancerOf('web')
    const ports = [{ ...HTTP, port: 8081 }]
    await lab.expose('second', 'single', { ports }, { [`${LOAD_BALANCER}/load-balancer-id`]: owner?.id ?? '' })
    const answer = await waitFor(() => lab.ask(address, 8081), { what: 'the second to answer', timeoutMs: 60_000 })
    expect(answer.node).toBe('worker1')
    expect(await lab.loadBalancerOf('second')).toBeUndefined()
    await lab.remove('second')
    await refused(address, 8081)
    expect(await lab.ask(address)).not.toBeNull()
    expect((await lab.loadBalancerOf('web'))?.id).toBe(owner?.id)
  })

  it('have the headers, time-outs and limits that annotations name', async () => {
    const annotations = { 'x-forwarded-for': 'true', 'timeout-client-data': '30000', 'connection-limit': '1000' }
    await lab.expose('annotated', 'web', {}, named(annotations))
    const address = await lab.answering('annotated')
    expect(await lab.ask(address)).toMatchObject({ forwardedFor: CLIENT })
    expect((await settingsOf('annotated')).listeners).toMatchObject([
      { protocol: 'http', connectionLimit: 1000, timeouts: { clientMs: 30_000 } },
    ])
    await lab.remove('annotated')
  })

  it('send the PROXY protocol, which these pods refuse', async () => {
    await lab.expose('proxied', 'web', {}, named({ 'proxy-protocol': 'true' }))
    const address = await lab.addressOf('proxied')
    await waitFor(
      async () => {
        const answer = await lab.client.http(address, 80)
        return answer.ok && answer.value.status === 400
      },
      { what: 'a pod to refuse the request', timeoutMs: 60_000 },
    )
    expect((await settingsOf('proxied')).pools).toMatchObject([{ protocol: 'tcp-proxy-v1' }])
    await lab.remove('proxied')
  })

  it('are of the class that flavor-id names', async () => {
    const { admin } = lab.system.access
    const { id } = await lab.system.api<{ id: string }>(admin, 'POST', '/load-balancer-classes', { name: 'small' })
    await lab.expose('classed', 'web', {}, named({ 'flavor-id': id }))
    await lab.answering('classed')
    expect((await settingsOf('classed')).classId).toBe(id)
    await lab.remove('classed')
  })

  it('are made by a call for each object', async () => {
    await lab.startAgain(['provider-requires-serial-api-calls=true'])
    await lab.expose('serial', 'web')
    await lab.answering('serial')
    await reaches('serial', up)
    await lab.remove('serial')
  })

  it('get security groups, which go with them', async () => {
    // Instances have no ports here, so nothing but the groups follows from it.
    await Promise.all(
      ['worker1', 'worker2'].map((name, at) =>
        lab.cluster.api.patch(`/api/v1/nodes/${name}`, {
          spec: { providerID: `openstack:///00000000-0000-4000-8000-00000000000${at}` },
        }),
      ),
    )
    await lab.startAgain(['manage-security-groups=true'])
    await lab.expose('grouped', 'web')
    await lab.answering('grouped')
    const [group] = await waitFor(async () => atLeastOne(await groupsOf('grouped')), {
      what: 'the group of the Service',
      timeoutMs: 60_000,
    })
    const nodePort = (await lab.service('grouped')).spec?.ports?.[0]?.nodePort
    expect(group?.security_group_rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ direction: 'ingress', protocol: 'tcp', port_range_min: nodePort }),
      ]),
    )
    await lab.remove('grouped')
    await waitFor(async () => (await groupsOf('grouped')).length === 0, {
      what: 'the group to be gone',
      timeoutMs: 60_000,
    })
    await lab.startAgain([])
  })

  it('are kept with the configuration that Gardener writes, which logs in by password', async () => {
    await lab.startWith(gardenersCloudConfig(lab))
    await lab.expose('shoot', 'web', {}, named({ class: 'outside' }))
    await lab.answering('shoot')
    await reaches('shoot', up)
    await lab.remove('shoot')
    await lab.startAgain([])
  })
})

const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
const OCTAVIA = 'octavia.ingress.kubernetes.io'

interface ShownIngress {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

const to = (service: string, path = '/') => ({
  ...{ path, pathType: 'Prefix' },
  backend: { service: { name: service, port: { number: 80 } } },
})

/** The code and the pod's app at a host and path, such as `200 web`; an app is what its pods' names begin with. */
async function answerAt(address: string, host: string, path = '/'): Promise<string> {
  const outcome = await lab.client.http(address, 80, { path, headers: { host } })
  if (!outcome.ok) return outcome.code
  const { status, body } = outcome.value
  return status === 200 ? `200 ${(JSON.parse(body) as { pod: string }).pod.split('-')[0]}` : `${status}`
}

const ingressAddress = (name: string) =>
  waitFor(
    async () =>
      (await lab.cluster.api.get<ShownIngress>(`${INGRESSES}/${name}`)).status?.loadBalancer?.ingress?.[0]?.ip,
    {
      what: `the Ingress ${name} to have an address`,
      timeoutMs: 120_000,
    },
  )

const answers = (address: string, host: string, path: string, wanted: string) =>
  waitFor(async () => (await answerAt(address, host, path)) === wanted, {
    what: `${host}${path} to answer ${wanted}`,
    timeoutMs: 120_000,
  })

describe('Ingresses kept by octavia-ingress-controller', { timeout: 240_000 }, () => {
  const internal = (value: string) => ({
    'kubernetes.io/ingress.class': 'openstack',
    [`${OCTAVIA}/internal`]: value,
  })

  beforeAll(async () => {
    await lab.startIngressController()
    await Promise.all(['web', 'single'].map((app) => lab.expose(`${app}-nodes`, app, { type: 'NodePort' })))
  })

  it('are load balancers whose policies choose by host and path', async () => {
    // The controller keeps the order of the paths.
    const paths = [to('single-nodes', '/single'), to('web-nodes')]
    await lab.cluster.api.create(INGRESSES, {
      metadata: { name: 'shop', annotations: internal('false') },
      spec: { rules: [{ host: 'shop.example.org', http: { paths } }] },
    } as object)
    const address = await ingressAddress('shop')
    await answers(address, 'shop.example.org', '/', '200 web')
    await answers(address, 'shop.example.org', '/single', '200 single')
    expect(await answerAt(address, 'shop.example.org:80')).toBe('200 web')
    expect(await answerAt(address, 'other.example.org')).toBe('503')
  })

  it('follow a change of their hosts, at the same address', async () => {
    const address = await ingressAddress('shop')
    await lab.cluster.api.patch(`${INGRESSES}/shop`, {
      spec: { rules: [{ host: 'store.example.org', http: { paths: [to('single-nodes')] } }] },
    })
    await answers(address, 'store.example.org', '/', '200 single')
    await answers(address, 'shop.example.org', '/', '503')
    expect(await ingressAddress('shop')).toBe(address)
  })

  it('leave nothing behind', async () => {
    await lab.cluster.api.delete(`${INGRESSES}/shop`)
    await waitFor(async () => (await lab.loadBalancers('?name=kube_ingress_lab_default_shop')).length === 0, {
      what: 'its load balancer to be gone',
      timeoutMs: 120_000,
    })
  })
})

describe('all of it', () => {
  it('leaves nothing behind', async () => {
    await Promise.all(['web', 'single'].map((name) => lab.remove(name)))
    await waitFor(async () => (await lab.loadBalancers()).length === 0, {
      what: 'all load balancers to be gone',
      timeoutMs: 60_000,
    })
    expect(await lab.addresses()).toEqual([])
  })
})
