import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  callApi,
  createPublicPool,
  documented,
  documentedYaml,
  joiningSettings,
  Lab,
  Masters,
  nodesInSync,
  pageShell,
  recordFault,
  type SystemAccess,
  startControlPlane,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { spoutShell } from '../spout-shell.ts'
import { connectAgainAndAgain } from './new-connections.ts'

// Three masters with real API servers, which share one etcd. Agents alone balance their address: there is no control
// plane. Clients are behind a router.

const PAGE = 'api-server-address.md'
const SETTINGS = documented(PAGE, '\nlocal:\n')
const ADDRESS = '198.51.100.16'
const AGENT = 'apps/agent/src/main.ts'

let lab: Lab
let masters: Masters

beforeAll(async () => {
  lab = await Lab.create()
  masters = await Masters.create(lab, { address: ADDRESS, agentSettings: SETTINGS })
})

afterAll(async () => {
  await lab?.destroy()
})

/** As a person has it: without a word about how long to wait, and one try. */
const kubectl = async (place: string, ...args: readonly string[]): Promise<string> =>
  (await lab.must(place, [...masters.kubectl, ...args], { timeoutMs: 60_000 })).trim()

const works = (place: string): Promise<string> =>
  waitFor(async () => await kubectl(place, 'get', 'namespace', 'default', '--output=name').catch(() => null), {
    what: `kubectl to work in ${place}`,
    timeoutMs: 120_000,
  })

const holder = (): Promise<string> =>
  waitFor(
    async () => {
      const holders = await masters.holders()
      return holders.length === 1 && holders[0]
    },
    { what: 'one master to hold the address' },
  )

const readyOf = (name: string): Promise<string> =>
  lab.must('etcd', ['curl', '--silent', '--insecure', `https://${masters.addressOf(name)}:6443/readyz`]).catch(() => '')

const allReady = (): Promise<unknown> =>
  waitFor(async () => (await Promise.all(masters.names.map(readyOf))).every((text) => text === 'ok'), {
    what: 'all API servers to be ready',
    timeoutMs: 120_000,
  })

interface NodeShards {
  readonly status: { readonly shards: readonly { readonly number: number; readonly state: string }[] }
}

/** By node: the shards that the control plane gave it. */
async function shardsOf({ endpoint, admin }: SystemAccess): Promise<readonly NodeShards['status']['shards'][]> {
  const { items } = await callApi<{ items: NodeShards[] }>(endpoint, admin.token, 'GET', '/nodes')
  return items.map(({ status }) => status.shards)
}

/** Whether each shard has one master, and all other nodes for backups. */
function isElected(byNode: readonly NodeShards['status']['shards'][]): boolean {
  const shards = new Set(byNode.flat().map(({ number }) => number)).size
  const inState = (state: string) => byNode.flat().filter((one) => one.state === state).length
  return shards > 0 && inState('master') === shards && inState('backup') === shards * (byNode.length - 1)
}

it('comes up before any API, and the masters behind it', async () => {
  const begun = performance.now()
  await Promise.all(masters.names.map((name) => masters.startAgent(name)))
  expect(await holder()).toMatch(/^master/)
  await masters.startEtcd()
  await Promise.all(masters.names.map((name) => masters.startApiServer(name)))
  expect(await works('client')).toBe('namespace/default')
  recordFault({
    fault: 'API server: cold start of three masters at once',
    outcome: 'their address answers',
    figure: `kubectl works after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
  })
  await allReady()
})

it('serves the masters themselves, whoever holds it, and one whose own API server is dead', async () => {
  for (const name of masters.names) expect(await works(name)).toBe('namespace/default')
  const own = await holder()
  const other = masters.names.find((name) => name !== own)!
  for (const name of [own, other]) {
    await masters.killApiServer(name)
    await works(name)
    // None goes to the API server of this machine, which has the same port on every address of it.
    const allAnswered = async () => {
      for (let times = 0; times < 10; times++)
        if ((await kubectl(name, 'get', '--raw=/readyz').catch(() => '')) !== 'ok') return false
      return true
    }
    await waitFor(allAnswered, { what: `ten requests of ${name} in a row to be answered`, timeoutMs: 60_000 })
    await masters.startApiServer(name)
    await allReady()
  }
})

it('is as its page shows', async () => {
  const indented = SETTINGS.replaceAll(/^(?=.)/gm, '      ')
  expect(documentedYaml(PAGE).filter((text) => text.includes(indented))).toHaveLength(1)
  const shell = pageShell({
    ...{ directory: masters.directory, lab, place: 'master1', env: {} },
    programs: { kubectl: masters.kubectl },
  })
  const page = new TypedPage(PAGE, shell)
  const refused = page.take(`node ${AGENT}`)
  const { stderr } = await shell(
    refused.command.replace(AGENT, bundled(path.join(import.meta.dirname, '../..', AGENT))),
  )
  expect(stderr.trim().split('\n')).toEqual(refused.printed)
  for (const beginning of ['kubectl --server', 'ip rule']) {
    const { said, shown } = await page.type(beginning)
    expect(said.trim()).toBe(shown)
  }
  page.leaveOut('spout ', 'there is no control plane yet')
  expect(page.left).toEqual([])
})

it('works on while each master dies in turn', async () => {
  const gaps: string[] = []
  for (const name of masters.names) {
    const isHolder = (await holder()) === name
    const clients = await connectAgainAndAgain(masters, 'client')
    await masters.powerOff(name)
    for (let times = 0; times < 3; times++) expect(await works('client')).toBe('namespace/default')
    const { longestMs, asked, failed } = await clients.stop()
    gaps.push(`${longestMs} ms${isHolder ? ' (its holder)' : ''}, ${failed} of ${asked} failed`)
    expect(await holder()).not.toBe(name)
    await masters.powerOn(name)
    await allReady()
    expect(await holder()).not.toBe(name)
  }
  recordFault({
    fault: 'API server: each of three masters loses its power in turn',
    outcome: 'kubectl works on',
    figure: `longest gap of new connections ${gaps.join('; ')}`,
  })
})

/** A watch of the client, with one connection. `shows` makes an object and waits until the watch has shown it. */
async function openWatch(name: string): Promise<{ shows(name: string): Promise<void>; goesOn(): boolean }> {
  const watch = await lab.start('client', name, [
    ...masters.kubectl,
    ...['get', 'configmaps', '--watch', '--namespace=default', '--output=name'],
  ])
  const seen = () => readFileSync(watch.logFile, 'utf8')
  return {
    shows: async (made) => {
      await kubectl('client', 'create', 'configmap', made)
      await waitFor(() => seen().includes(`configmap/${made}\n`), { what: `the watch to show ${made}` })
    },
    // It would have ended with its connection.
    goesOn: () => lab.process(name) !== null,
  }
}

it('keeps established connections while all agents are killed and started at once', async () => {
  const watch = await openWatch('watch')
  await watch.shows('before')
  const clients = await connectAgainAndAgain(masters, 'client')
  await Promise.all(masters.names.map((name) => masters.killAgent(name)))
  await watch.shows('without-agents')
  await Promise.all(masters.names.map((name) => masters.startAgent(name)))
  await watch.shows('after')
  const { longestMs, failed, asked } = await clients.stop()
  expect(watch.goesOn()).toBe(true)
  expect(failed).toBe(0)
  recordFault({
    fault: 'API server: all agents of its masters killed at once',
    outcome: 'an established watch goes on',
    figure: `0 of ${asked} new connections failed, longest gap ${longestMs} ms`,
  })
})

interface Shown {
  readonly localName?: string
  readonly vips: readonly { readonly address: string }[]
  readonly status: {
    readonly provisioning: string
    readonly message: string
    readonly ownerNodeId: string
    readonly serving: { readonly state: string; readonly membersUp: number }
    readonly nodes: readonly { readonly nodeId: string; readonly nodeName: string }[]
    readonly stats: Readonly<Record<string, { readonly totalConnections: number }>>
  }
}

interface Explained {
  readonly loadBalancer: { readonly id: string }
  readonly decision: { readonly code: string }
}

/** The load balancers that the control plane shows, once those of the masters' own settings are active. */
const adopted = ({ endpoint, admin }: SystemAccess): Promise<Shown> =>
  waitFor(
    async () => {
      const { items } = await callApi<{ items: Shown[] }>(endpoint, admin.token, 'GET', '/load-balancers')
      const [only] = items.filter(({ localName }) => localName === 'api-server')
      const { provisioning = '', serving, stats = {} } = only?.status ?? {}
      const isCounted = Object.values(stats).some(({ totalConnections }) => totalConnections > 0)
      return provisioning === 'active' && serving?.membersUp === 3 && isCounted && only
    },
    {
      what: 'the control plane to show the address of the API servers with three members that are up, and connections',
    },
  )

it('is adopted without a gap by a control plane that came later, and works on without it', async () => {
  const owner = await holder()
  const watch = await openWatch('watch-of-adoption')
  const access = await startControlPlane(lab)
  // Its first address is that of the API servers.
  const { id: poolId } = await createPublicPool(access)
  const clients = await connectAgainAndAgain(masters, 'client')
  const joining = new Map<string, readonly string[]>()
  const restart = async (name: (typeof masters.names)[number]) => {
    await masters.killAgent(name)
    await masters.startAgent(name, joining.get(name))
  }
  for (const name of masters.names) {
    joining.set(name, await joiningSettings(lab, access, name))
    await restart(name)
  }
  await nodesInSync(access, masters.names.length)
  await waitFor(async () => isElected(await shardsOf(access)), {
    what: 'the shards of their group to have a master and backups, in the same keepalived as the address',
    timeoutMs: 60_000,
  })
  await watch.shows('adopted')
  await showsAsItsPage(access)
  const { status, vips } = await adopted(access)
  expect(status.nodes.find(({ nodeId }) => nodeId === status.ownerNodeId)?.nodeName).toBe(owner)
  expect(vips.map(({ address }) => address)).toEqual([ADDRESS])
  await explainsIt(access, owner)
  await givesItToNobody(access, poolId)

  await lab.stop(lab.process('control-plane')!, 'SIGKILL')
  await watch.shows('without-control-plane')
  await restart(owner)
  await watch.shows('restarted-without-control-plane')
  const { longestMs, failed, asked } = await clients.stop()
  expect(failed).toBe(0)
  expect(watch.goesOn()).toBe(true)
  expect(await holder()).toBe(owner)
  recordFault({
    fault: 'API server: a control plane that came later adopts its address, and is killed',
    outcome: 'the address stays where it is, an established watch goes on',
    figure: `0 of ${asked} new connections failed, longest gap ${longestMs} ms`,
  })
})

async function explainsIt({ endpoint, admin }: SystemAccess, owner: string): Promise<void> {
  const ask = <T>(path: string): Promise<T> => callApi<T>(endpoint, admin.token, 'GET', path)
  expect(await ask(`/vips/${ADDRESS}`)).toMatchObject({ announcer: 'vrrp', owners: [owner], state: 'announced' })
  const { loadBalancer, decision } = await ask<Explained>(`/vips/${ADDRESS}/explain`)
  expect(decision.code).toBe('OwnSettings')
  expect(await ask(`/load-balancers/${loadBalancer.id}/explain`)).toMatchObject({
    ...{ owner: { name: owner }, ownerReason: { code: 'OwnSettings' }, returnPath: 'snat' },
    vips: [{ announcedBy: [owner] }],
  })
}

async function showsAsItsPage(access: SystemAccess): Promise<void> {
  await adopted(access)
  const shell = spoutShell({ lab, access }, access.admin.token)
  const page = new TypedPage(PAGE, shell)
  const { said, shown } = await page.type('spout lb list')
  expect(said.trimEnd()).toBe(shown)
  const refused = page.take('spout lb set')
  const { code, stderr } = await shell(refused.command)
  expect([code, stderr.trim()]).toEqual([1, refused.printed.join('\n')])
  for (const before of ['node ', 'kubectl ', 'ip ']) page.leaveOut(before, 'it was typed without a control plane')
  expect(page.left).toEqual([])
}

/** A pool whose first address it is gives the next one, and refuses this one by name. */
async function givesItToNobody({ endpoint, admin }: SystemAccess, poolId: string): Promise<void> {
  const create = (address: string | null) =>
    callApi<Shown>(endpoint, admin.token, 'POST', '/load-balancers', {
      name: 'another',
      vips: [{ from: 'pool', poolId, address }],
    })
  expect((await create(null)).vips[0]?.address).toBe('198.51.100.17')
  await expect(create(ADDRESS)).rejects.toThrow(`409 `)
}
