import {
  Caller,
  ensureGophercloud,
  LONGEST_BUILD_MS,
  PRODUCT_ENVIRONMENT,
  pageShell,
  type RunResult,
  run,
  type Tenant,
  TestSystem,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openstackEnv } from '../tools/dev/env.ts'
import { ACME, CLIENT, PORT, tally } from './fixtures.ts'

// A program on unmodified gophercloud (testbed/gophercloud) keeps load balancers as cloud-provider-openstack does.

let system: TestSystem
let acme: Tenant
let client: Caller
let program: string
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  program = await ensureGophercloud()
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0] as Tenant
  client = await Caller.start(system.lab, 'client')
  env = await loggedIn()
}, LONGEST_BUILD_MS)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

/** What a program finds in its environment once somebody has typed what docs/clients/gophercloud.md says. */
async function loggedIn(): Promise<Readonly<Record<string, string>>> {
  const { lab, access } = system
  const exports = openstackEnv(access.endpoint, acme)
  const shell = pageShell({ directory: lab.directory, lab, programs: {}, env: PRODUCT_ENVIRONMENT, exports })
  const page = new TypedPage('clients/gophercloud.md', shell)
  const typed = [page.take('eval "$(./dev env)"'), page.take('export OS_DOMAIN_NAME=')]
  expect(page.left).toEqual([])
  const { stdout } = await shell([...typed.map(({ command }) => command), 'env -0'].join('\n'))
  const variables = stdout
    .split('\0')
    .map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(variables.filter(([name]) => name.startsWith('OS_')))
}

const node = (index: 1 | 2) => ({ name: `node${index}`, address: `10.0.0.${10 + index}` })

const told = (verb: string, more: object): Promise<RunResult> => {
  const service = { port: 80, nodePort: PORT.http, memberSubnet: acme.subnetId, vipSubnet: acme.subnetId, ...more }
  return run([program, verb, JSON.stringify(service)], { env })
}

/** What the cloud answered. @throws Error when gophercloud reports one */
async function asked<T = Record<string, unknown>>(verb: string, more: object): Promise<T> {
  const { code, stdout, stderr } = await told(verb, more)
  if (code !== 0) throw new Error(`${verb}: ${stderr}`)
  return JSON.parse(stdout) as T
}

const answering = async (address: string): Promise<readonly string[]> =>
  [...tally((await client.members(address, 8, { timeoutMs: 500 })).map((one) => one?.member ?? '-')).keys()].sort()

const served = (address: string, members: readonly string[]) =>
  waitFor(async () => (await answering(address)).join() === members.join(), {
    what: `${members.join(' and ')} to answer at ${address}`,
  })

const refused = (address: string) =>
  waitFor(async () => !(await client.tcp(address, 80, { timeoutMs: 500 })).ok, {
    what: `nobody to answer at ${address}`,
  })

describe.each([
  ['one call with everything in it', false],
  ['a call for each object', true],
])('a Service made by %s', (_, serial) => {
  const name = `kube_service_lab_default_${serial ? 'serial' : 'graph'}`
  const both = { name, serial, nodes: [node(1), node(2)] }
  let address = ''

  it('is ACTIVE with its listener, pool, members and monitor', async () => {
    expect(await asked('create', both)).toMatchObject({
      name,
      provisioning_status: 'ACTIVE',
      provider: 'amphora',
      tags: [name],
      listeners: [{ id: expect.any(String) }],
      pools: [{ id: expect.any(String) }],
    })
    const { tree, version, port } = await waitFor(
      async () => {
        const shown = await asked<Record<'tree' | 'port', object> & { version: string }>('show', { name })
        return JSON.stringify(shown.tree).match(/"ONLINE"/g)?.length === 5 && shown
      },
      { what: 'the load balancer, its listener, its pool and its members to be ONLINE' },
    )
    const shownNode = (index: 1 | 2) => ({ ...node(index), protocol_port: PORT.http, provisioning_status: 'ACTIVE' })
    expect(tree).toMatchObject({
      listeners: [{ pools: [{ members: [shownNode(1), shownNode(2)], healthmonitor: {} }] }],
    })
    // cloud-provider-openstack chooses by it what it sends.
    expect(version).toBe('v2.30')
    expect(port).toMatchObject({ device_owner: 'Octavia', fixed_ips: [{ subnet_id: acme.subnetId }] })
  })

  it('carries traffic at its floating IP, which is described and tagged', async () => {
    const floating = await asked<{ floating_ip_address: string }>('expose', {
      name,
      floatingNetwork: system.publicPoolId,
    })
    expect(floating).toMatchObject({ status: 'ACTIVE', tags: [name], description: expect.stringContaining(name) })
    address = floating.floating_ip_address
    await served(address, ['tenant-a-member1', 'tenant-a-member2'])
  })

  it('counts its connections', async () => {
    const stats = await waitFor(
      async () => {
        const shown = await asked<{ stats: { total_connections: number; bytes_out: number } }>('show', { name })
        return shown.stats.total_connections >= 8 && shown.stats.bytes_out > 0 && shown.stats
      },
      { what: 'the statistics to show the connections' },
    )
    expect(stats).toMatchObject({ request_errors: 0 })
  })

  it('loses and gets nodes by batch updates, with and without a subnet', async () => {
    expect(await asked('nodes', { name, nodes: [node(2)] })).toMatchObject([node(2)])
    await served(address, ['tenant-a-member2'])
    // gophercloud sends an empty subnet as null: Octavia then takes that of the VIP.
    const without = await asked<object[]>('nodes', { ...both, memberSubnet: '' })
    expect(without).toHaveLength(2)
    await served(address, ['tenant-a-member1', 'tenant-a-member2'])
    const again = await asked<object[]>('nodes', both)
    expect(again).toMatchObject([{ subnet_id: acme.subnetId }, { subnet_id: acme.subnetId }])
    await served(address, ['tenant-a-member1', 'tenant-a-member2'])
  })

  it('is limited to its source ranges, and open again', async () => {
    const [listener] = await asked<object[]>('sources', { name, sourceRanges: ['192.0.2.0/24'] })
    expect(listener).toMatchObject({ allowed_cidrs: ['192.0.2.0/24'] })
    await refused(address)
    await asked('sources', { name, sourceRanges: ['192.0.2.0/24', `${CLIENT}/32`] })
    await served(address, ['tenant-a-member1', 'tenant-a-member2'])
    await asked('sources', { name, sourceRanges: ['0.0.0.0/0'] })
    await served(address, ['tenant-a-member1', 'tenant-a-member2'])
  })

  it('is found by the tags that two Services give it', async () => {
    expect(await asked('retag', { name })).toMatchObject([{ name, tags: [name, 'shared'] }])
  })

  it('is not public any more once it is internal', async () => {
    expect(await asked('internal', { name })).toMatchObject({ floating_ip_address: address, port_id: '' })
    await refused(address)
  })

  it('is deleted with its children', async () => {
    expect(await asked('delete', { name })).toEqual({ poolGone: true, listenerGone: true })
    expect(await told('show', { name })).toMatchObject({ code: 1, stderr: expect.stringContaining('0 load balancers') })
  })
})

it('leaves no load balancer of a cluster in its subnet, and those of others', async () => {
  const nodes = [node(1)]
  for (const name of ['kube_service_one_a', 'kube_service_one_b', 'kube_service_two_a'])
    await asked('create', { name, nodes })
  const swept = await asked<readonly string[]>('sweep', { name: 'kube_service_one' })
  expect([...swept].sort()).toEqual(['kube_service_one_a', 'kube_service_one_b'])
  expect(await asked('sweep', { name: 'kube_service_one' })).toEqual([])
  expect(await asked('delete', { name: 'kube_service_two_a' })).toMatchObject({ poolGone: true })
})

it('reports a refusal with its reason', async () => {
  const { code, stderr } = await told('create', { name: 'bad', nodes: [{ name: 'x', address: '127.0.0.1' }] })
  expect(code).toBe(1)
  expect(stderr).toContain('got 400 instead')
  expect(stderr).toContain('127.0.0.1 is not a valid option for member address')
})
