import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  callApi,
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

it('keeps established connections while all agents are killed and started at once', async () => {
  const watch = await lab.start('client', 'watch', [
    ...masters.kubectl,
    ...['get', 'configmaps', '--watch', '--namespace=default', '--output=name'],
  ])
  const seen = () => readFileSync(watch.logFile, 'utf8')
  const make = async (name: string) => {
    await kubectl('client', 'create', 'configmap', name)
    await waitFor(() => seen().includes(`configmap/${name}\n`), { what: `the watch to show ${name}` })
  }
  await make('before')
  const clients = await connectAgainAndAgain(masters, 'client')
  await Promise.all(masters.names.map((name) => masters.killAgent(name)))
  await make('without-agents')
  await Promise.all(masters.names.map((name) => masters.startAgent(name)))
  await make('after')
  const { longestMs, failed, asked } = await clients.stop()
  // It would have ended with its connection.
  expect(lab.process('watch')).not.toBeNull()
  expect(failed).toBe(0)
  recordFault({
    fault: 'API server: all agents of its masters killed at once',
    outcome: 'an established watch goes on',
    figure: `0 of ${asked} new connections failed, longest gap ${longestMs} ms`,
  })
})

it('is carried on while its agents join a control plane that came later', async () => {
  const owner = await holder()
  const access = await startControlPlane(lab)
  const clients = await connectAgainAndAgain(masters, 'client')
  for (const name of masters.names) {
    const settings = await joiningSettings(lab, access, name)
    await masters.killAgent(name)
    await masters.startAgent(name, settings)
  }
  await nodesInSync(access, masters.names.length)
  await waitFor(async () => isElected(await shardsOf(access)), {
    what: 'the shards of their group to have a master and backups, in the same keepalived as the address',
    timeoutMs: 60_000,
  })
  const { longestMs, failed, asked } = await clients.stop()
  expect(failed).toBe(0)
  expect(await holder()).toBe(owner)
  recordFault({
    fault: 'API server: agents of its masters join a control plane that came later',
    outcome: 'the address stays where it is',
    figure: `0 of ${asked} new connections failed, longest gap ${longestMs} ms`,
  })
})
