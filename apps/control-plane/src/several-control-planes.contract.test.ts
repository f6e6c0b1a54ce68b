import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { NodeAgent } from '@spout/agent'
import { RecordedAnnouncer, RecordedDomains, RecordedDriver, RecordedGroup, RecordedNode } from '@spout/agent/testing'
import { Endpoints, NativeApi } from '@spout/client'
import { keepWatching } from '@spout/client/keep-watching'
import { silentLogger, systemClock } from '@spout/runtime'
import { loadConfig } from '@spout/runtime/config'
import { VERSION } from '@spout/runtime/version'
import { callApi, documentedCommands, must, passwordToken, recordFault, waitFor } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeIdentity } from '../../agent/src/identity.ts'
import { readInstalled } from '../../cli/src/commands/upgrade/installed.ts'
import { buildProgram } from '../../cli/src/program.ts'
import { spoutAs } from '../../cli/src/testing/installed-spout.ts'
import { controlPlaneConfig } from './config.ts'
import { servedCertificates } from './doctor/checks/served-certificates.ts'
import { checkPeers } from './peers.ts'
import { CuttablePath } from './testing/cuttable-path.ts'
import { type PlaneOfSeveral, readyOf, startPlaneOfSeveral } from './testing/plane-of-several.ts'

/** Three control planes on one PostgreSQL, each with its own way to it, and a node whose agent knows all three. */

const ADMIN = { user: 'admin', password: 'a-password-for-tests', project: 'admin' }
const COUNT = 3
const LONG_MS = 60_000
const log = silentLogger()

/** A control plane with its own way to PostgreSQL. */
interface Plane extends PlaneOfSeveral {
  readonly database: CuttablePath
}

let directory: string
let postgres: PostgresServer
let planes: readonly Plane[] = []
let node: RecordedNode
let token: string
let loadBalancer: string
const undo: (() => Promise<unknown> | unknown)[] = []

async function startPlane(like?: Plane): Promise<Plane> {
  const database = await CuttablePath.open(postgres.host)
  undo.push(() => database[Symbol.asyncDispose]())
  const given = { server: database.server, adminPassword: ADMIN.password, settings: ['nodes.announcer=l2'] }
  const plane = await startPlaneOfSeveral({ ...given, like })
  undo.push(() => plane.process[Symbol.asyncDispose]())
  return { ...plane, database }
}

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-several-'))
  undo.push(() => rmSync(directory, { recursive: true }))
  postgres = await PostgresServer.start()
  undo.push(() => postgres.dispose())
  await postgres.createDatabase('spout')
  const first = await startPlane()
  planes = [first]
  while (planes.length < COUNT) planes = [...planes, await startPlane(first)]
  token = (await passwordToken(planes.at(-1)!.process.address, ADMIN)).token
}, 180_000)
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})

const api = <T = { readonly id: string }>(
  { process }: Plane,
  method: string,
  what: string,
  body?: unknown,
): Promise<T> => callApi<T>(process.address, token, method, what, body)
const isLeading = async (plane: Plane) => (await readyOf(plane)).includes('ok: leads')
/** The one that leads, once one of these does. */
async function leaderOf(among: readonly Plane[]): Promise<Plane> {
  let found: Plane | undefined
  await waitFor(
    async () => {
      for (const plane of among) if (await isLeading(plane)) found = plane
      return found !== undefined
    },
    { what: 'one to lead', timeoutMs: LONG_MS },
  )
  return found!
}
const others = (plane: Plane, among: readonly Plane[]): readonly Plane[] => among.filter((each) => each !== plane)
/** On a busy machine the leader may lose its lease for a moment; then nobody answers, and clients ask again. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + LONG_MS
  for (;;)
    try {
      return await ask()
    } catch (error) {
      if (!/: 503 |is not available/.test(String(error)) || performance.now() > untilMs) throw error
      await sleep(50)
    }
}
const names = async (plane: Plane): Promise<readonly string[]> =>
  (await patiently(() => api<{ items: { name: string }[] }>(plane, 'GET', '/projects'))).items.map(({ name }) => name)
const isActive = async (plane: Plane): Promise<boolean> => {
  const { status } = await api<{ status: { provisioning: string } }>(plane, 'GET', `/load-balancers/${loadBalancer}`)
  return status.provisioning === 'active'
}
const active = (plane: Plane, what: string) =>
  waitFor(() => isActive(plane).catch(() => false), { what, timeoutMs: LONG_MS })

async function startAgent(through: Plane): Promise<void> {
  const { items } = await api<{ items: { id: string }[] }>(through, 'GET', '/node-groups')
  const enrolment = { nodeName: 'n1', nodeGroupId: items[0]?.id }
  const file = path.join(directory, 'enrolment-token')
  writeFileSync(file, (await api<{ token: string }>(through, 'POST', '/enrolment-tokens', enrolment)).token)
  const [url = '', ...rest] = planes.map(({ link }) => link)
  const identity = await NodeIdentity.open({
    ...{ file: path.join(directory, 'identity.json'), url, others: rest, enrolmentTokenFile: file },
    ...{ clock: systemClock, log },
  })
  node = new RecordedNode()
  const agent = new NodeAgent({
    ...{ session: randomUUID(), stateFile: path.join(directory, 'entries.journal') },
    ...{ link: () => identity.link, servers: identity, termFile: path.join(directory, 'term.json') },
    certificateDirectory: path.join(directory, 'certificates'),
    ...{ domains: new RecordedDomains(node), drivers: [new RecordedDriver(node)], group: new RecordedGroup(node) },
    ...{ announcer: new RecordedAnnouncer(node), flows: async () => null, fabricAddress: async () => '192.0.2.254' },
    ...{ checks: [], clock: systemClock, random: Math.random, log },
  })
  await agent.start()
  undo.push(() => identity.stop())
  undo.push(() => agent.stop())
}

async function createLoadBalancer(through: Plane): Promise<void> {
  const ranges = [{ first: '192.0.2.10', last: '192.0.2.20' }]
  const pool = { name: 'public', cidr: '192.0.2.0/24', gatewayIp: '192.0.2.1', ranges }
  const { id: poolId } = await api(through, 'POST', '/address-pools', pool)
  const segment = { physicalNetwork: 'physnet1', vlan: null }
  const network = await api(through, 'POST', '/networks', { name: 'net', returnPath: 'gateway', segment })
  await api(through, 'POST', `/networks/${network.id}/subnets`, { cidr: '10.0.0.0/24', gatewayIp: '10.0.0.1' })
  const made = await api(through, 'POST', '/load-balancers', {
    ...{ name: 'web', vips: [{ from: 'pool', poolId }], listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }] },
    pools: [{ name: 'p', protocol: 'tcp', members: [{ address: '10.0.0.11', port: 80 }] }],
  })
  loadBalancer = made.id
}

/** Writes through these until it ends. `accepted` has what was acknowledged, and when (milliseconds). */
function startWriting(through: readonly Plane[], prefix: string) {
  const accepted: { readonly name: string; readonly atMs: number }[] = []
  let ending = false
  const write = async (): Promise<void> => {
    for (let n = 0; !ending; n++) {
      const name = `${prefix}-${n}`
      const answer = await api(through[n % through.length]!, 'POST', '/projects', { name }).catch(() => null)
      if (answer === null) await sleep(10)
      else accepted.push({ name, atMs: performance.now() })
    }
  }
  const writing = write()
  const stop = async () => {
    ending = true
    await writing
  }
  return { accepted, stop }
}

/** Follows projects as a connector follows what it needs: of these control planes it asks the first that answers. */
function startFollowing(through: readonly Plane[]) {
  const endpoints = new Endpoints(through.map(({ process }) => process.address))
  const client = new NativeApi({ session: async () => ({ endpoints, token }), forget: () => {} })
  const seen = new Set<string>()
  const stopping = new AbortController()
  const { signal } = stopping
  const watch = async (resetPauses: () => void) => {
    for await (const line of client.watch<{ readonly name: string }>('/projects', signal)) {
      resetPauses()
      if (line.type === 'ADDED' || line.type === 'MODIFIED') seen.add(line.object.name)
    }
  }
  const following = keepWatching(watch, { path: '/projects', meanwhile: 'nothing', clock: systemClock, log, signal })
  const stop = async () => {
    stopping.abort()
    await following
  }
  return { seen, stop }
}

/** The `spout` command, as somebody runs it who names these control planes in this order. */
async function spout(through: readonly Plane[], ...words: readonly string[]): Promise<string> {
  const endpoint = through.map(({ process }) => process.address).join()
  const { code, stdout, stderr } = await spoutAs({ endpoint }, token, words)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** Keeps `spout project list -w` running, as somebody does who names these control planes. */
async function startListing(through: readonly Plane[]) {
  const written: string[] = []
  const stopping = new AbortController()
  const env = { SPOUT_ENDPOINT: through.map(({ process }) => process.address).join(), SPOUT_TOKEN: token }
  const context = { env, colour: false, write: (text: string) => void written.push(text), signal: stopping.signal }
  const ended = buildProgram(context).parseAsync(['project', 'list', '-w', '-o', 'name'], { from: 'user' })
  await expect.poll(() => written.length).toBe(1)
  const stop = async () => {
    stopping.abort()
    await ended.catch((error: Error) => expect(error.name).toBe('AbortError'))
  }
  return { printed: () => written.map((text) => text.trim().split('\n')), stop }
}

test('any of them answers, and shows at once what was written through another; each says what it is', async () => {
  let leader = planes[0]!
  await waitFor(
    async () => {
      leader = await leaderOf(planes)
      const said = await Promise.all(others(leader, planes).map(readyOf))
      return said.every((text) => new RegExp(`^200 ok: follows .* ${leader.peer}$`).test(text))
    },
    { what: 'the others to say whom they follow', timeoutMs: LONG_MS },
  )
  // As the page shows it.
  const asked = documentedCommands('postgresql.md').find(({ command }) => command.endsWith('/readyz'))
  expect(asked?.printed).toEqual(['ok: follows cp1-5f0c44aa https://cp1.example:9133'])
  const [follower] = others(leader, planes)
  expect(await must(['bash', '-c', asked!.command.replace('9134', String(follower!.process.statusPort))])).toMatch(
    /^ok: follows [\w.-]+-[0-9a-f]{8} https:\/\/\S+\n$/,
  )
  for (let n = 0; n < 30; n++) {
    await patiently(() => api(planes[n % COUNT]!, 'POST', '/projects', { name: `p${n}` }))
    expect(await names(planes[(n + 1) % COUNT]!)).toContain(`p${n}`)
  }
})

test('a session of the web page is one with all of them, and ends with all', async () => {
  const leader = await leaderOf(planes)
  const [one, other] = others(leader, planes)
  const ask = (plane: Plane, method: string, cookie?: string, body?: object) =>
    patiently(async () => {
      const answer = await fetch(`${plane.process.address}/api/v1/session`, {
        method,
        headers: { 'content-type': 'application/json', 'spout-page': '1', ...(cookie !== undefined && { cookie }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (answer.status === 503) throw new Error(`${method}: 503 `)
      return answer
    })
  const login = { userName: ADMIN.user, password: ADMIN.password, projectName: ADMIN.project }
  const opened = await ask(one!, 'POST', undefined, login)
  const cookie = opened.headers.getSetCookie().join().split(';', 1)[0]
  expect([opened.status, cookie]).toEqual([201, expect.stringMatching(/^spout-session=\S{43}$/)])
  for (const plane of planes) expect((await ask(plane, 'GET', cookie)).status).toBe(200)
  expect((await ask(other!, 'DELETE', cookie)).status).toBe(204)
  for (const plane of planes) expect((await ask(plane, 'GET', cookie)).status).toBe(401)
})

test('each says its own version, and one that it leads', async () => {
  const [endpoint = '', ...rest] = planes.map(({ process }) => process.address)
  const session = { endpoints: new Endpoints([endpoint]), token }
  const { controlPlanes } = await patiently(() => readInstalled(session, rest))
  expect(controlPlanes.map(({ version }) => version)).toEqual([VERSION, VERSION, VERSION])
  expect(controlPlanes.filter(({ leads }) => leads)).toHaveLength(1)
})

test('the doctor of one that follows misses no agent link, which the leader has', async () => {
  const message = async ({ process, link }: Plane): Promise<string | undefined> => {
    const set = [
      `stateDirectory=${process.stateDirectory}`,
      `status.port=${process.statusPort}`,
      `agentLink.port=${new URL(link).port}`,
    ]
    const { config } = loadConfig(controlPlaneConfig, { set })
    const findings = await servedCertificates.run({ config, now: () => new Date() })
    return findings.map((finding) => `${finding.level}: ${finding.message}`).join()
  }
  await waitFor(
    async () => {
      const leader = await leaderOf(planes)
      const said = await Promise.all([leader, ...others(leader, planes)].map(message))
      return (
        said[0] === 'ok: agentLink show certificates that are valid for a week or more.' &&
        said
          .slice(1)
          .every((text) => text === 'ok: Another control plane leads, so this one shows no certificate to nodes.')
      )
    },
    { what: 'the doctors to find nothing', timeoutMs: LONG_MS },
  )
})

test('a node reports to the one that leads, whichever was asked for the load balancer', async () => {
  const leader = await leaderOf(planes)
  const [follower] = others(leader, planes)
  await startAgent(follower!)
  await createLoadBalancer(follower!)
  await Promise.all(planes.map((plane) => active(plane, 'the load balancer to be active')))
  expect(node.take().at(-1)).toBe('announce 192.0.2.10')
})

test('kill -9 of the leader: another leads, what was acknowledged is there, watches go on, and nothing moves on the node', async () => {
  const leader = await leaderOf(planes)
  const living = others(leader, planes)
  const { revision } = await api<{ revision: string }>(living[0]!, 'GET', '/projects')
  const watched = new AbortController()
  const watchedAt = (from: string) =>
    fetch(`${living[0]!.process.address}/api/v1/projects?watch=1&from=${encodeURIComponent(from)}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: watched.signal,
    })
  const watch = await watchedAt(revision)
  expect(watch.status).toBe(200)
  const ended = watch.text().then(
    () => 'ended',
    () => 'broken',
  )

  const everyPlane = [leader, ...living]
  const listing = await startListing(everyPlane)
  const follower = startFollowing(everyPlane)
  const { accepted, stop } = startWriting(living, 'killed')
  await expect.poll(() => accepted.length).toBeGreaterThan(5)
  await expect.poll(() => accepted.some(({ name }) => follower.seen.has(name))).toBe(true)
  await leader.process.kill()
  const killedMs = performance.now()
  const isAfter = ({ atMs }: { readonly atMs: number }) => atMs > killedMs
  // An answer may still have been under way.
  await expect.poll(() => accepted.filter(isAfter).length, { timeout: LONG_MS }).toBeGreaterThan(5)
  await stop()
  planes = living
  const after = await leaderOf(planes)
  for (const plane of planes)
    expect(await names(plane)).toEqual(expect.arrayContaining(accepted.map(({ name }) => name)))

  // Whoever names several goes on, though the first of them is gone, and finds what was written through another.
  expect((await patiently(() => spout(everyPlane, 'project', 'list', '-o', 'name'))).split('\n')).toEqual(
    expect.arrayContaining(accepted.map(({ name }) => name)),
  )
  let tries = 0
  const byCommand = await patiently(() => spout(everyPlane, 'project', 'create', `by-command-${tries++}`, '-o', 'name'))
  const written = [...accepted.map(({ name }) => name), byCommand.trim()]
  await expect.poll(() => written.filter((name) => !follower.seen.has(name)), { timeout: LONG_MS }).toEqual([])
  await follower.stop()
  await expect.poll(() => listing.printed().at(-1), { timeout: LONG_MS }).toEqual(expect.arrayContaining(written))
  // Each list is longer than the one before: none is printed twice.
  expect(listing.printed().filter((names, at, all) => names.length <= (all[at - 1]?.length ?? 0))).toEqual([])
  await listing.stop()

  expect(await ended).toMatch(/ended|broken/)
  const again = await watchedAt(revision)
  const reader = again.body!.getReader()
  let text = ''
  while (!accepted.every(({ name }) => text.includes(`"${name}"`)))
    text += Buffer.from((await reader.read()).value ?? []).toString()
  watched.abort()

  await Promise.all(planes.map((plane) => active(plane, 'the load balancer to be active again')))
  expect(node.take()).toEqual([])
  const times = accepted.map(({ atMs }) => atMs)
  const gapMs = Math.max(...times.slice(1).map((atMs, n) => atMs - times[n]!))
  recordFault({
    fault: 'kill -9 of the leading one of three control planes on PostgreSQL',
    outcome: `another leads; of ${accepted.length} acknowledged writes none is missing, nothing moved on the node, and clients that name several URLs went on`,
    figure: `no write accepted for ${(gapMs / 1000).toFixed(2)} s`,
  })
  expect(after).not.toBe(leader)
}, 180_000)

test('a leader that is cut off from PostgreSQL: its writes are refused, another leads, and the agent follows that one', async () => {
  const leader = await leaderOf(planes)
  const [other] = others(leader, planes)
  leader.database.cut()
  const outcome = (asked: Promise<unknown>) =>
    asked.then(
      () => 'done',
      (error: unknown) => String(error),
    )
  const late = outcome(api(leader, 'POST', '/projects', { name: 'late' }))
  await leaderOf([other!])
  await active(other!, 'the load balancer to be active')
  // It knows that it leads no longer, and answers for nobody.
  await waitFor(async () => (await readyOf(leader)).startsWith('503'), { what: 'it to be unready', timeoutMs: LONG_MS })
  expect(await outcome(api(leader, 'GET', '/projects'))).toMatch(/ 503 /)
  expect(await outcome(api(leader, 'POST', '/projects', { name: 'later' }))).toMatch(/ 503 /)
  expect(await names(other!)).not.toContain('late')

  leader.database.mend()
  await waitFor(async () => (await readyOf(leader)).includes('ok: follows'), {
    what: 'it to follow',
    timeoutMs: LONG_MS,
  })
  expect(await late).toMatch(/ 50[23] /)
  await patiently(() => api(leader, 'POST', '/projects', { name: 'as-follower' }))
  const now = await names(other!)
  expect(now).toContain('as-follower')
  for (const name of ['late', 'later']) expect(now).not.toContain(name)
  expect(node.take()).toEqual([])
  recordFault({
    fault: 'the leading control plane is cut off from PostgreSQL',
    outcome: 'its writes are refused, another leads, and the agent follows that one',
    figure: '0 late writes stored, 0 changes of the node',
  })
}, 180_000)

test('what a process of several needs besides its address is asked for', () => {
  const check = (...set: string[]) => checkPeers(loadConfig(controlPlaneConfig, { set }).config)
  const url = 'peers.url=https://cp1.example:9133'
  expect(() => check(url)).toThrow('peers.url: needs store.engine postgres or kubernetes, and it is sqlite')
  const engine = ['store.engine=postgres', 'store.postgres.servers=[db.example]']
  expect(() => check(url, ...engine)).toThrow('peers.url: needs api.publicUrl')
  check(url, ...engine, 'api.publicUrl=https://spout.example')
  check(url, 'store.engine=kubernetes', 'api.publicUrl=https://spout.example')
  for (const wrong of ['http://cp1:1', 'https://cp1', 'https://cp1:9133/x', 'https://u@cp1:9133'])
    expect(() => check(`peers.url=${wrong}`)).toThrow('is not like https://cp1.example:9133')
})
