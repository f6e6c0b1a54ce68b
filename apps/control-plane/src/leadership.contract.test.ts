import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifecycle } from '@spout/runtime'
import { loadConfig } from '@spout/runtime/config'
import { FakeClock } from '@spout/runtime/fake-clock'
import { silentLogger } from '@spout/runtime/logger'
import { MemoryStore, type Store } from '@spout/store'
import { freePort, recordFault, waitFor } from '@spout/testkit'
import { afterAll, expect, test } from 'vitest'
import { controlPlaneConfig } from './config.ts'
import { startControlPlane } from './control-plane.ts'

/** Two control planes on one store, in this process, each with a clock of its own. */

const PASSWORD = 'a-password-for-tests'
const LEASE_MS = 3000
const ASK_EVERY_MS = 1000
const SWEEP_MS = 60_000

const undo: (() => Promise<unknown> | unknown)[] = []
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})

/** As `store`, and stays open when a control plane that uses it stops. */
const keptOpen = (store: Store): Store =>
  new Proxy(store, {
    get: (target, name) => {
      if (name === 'close') return async () => {}
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })

interface Ports {
  readonly api: number
  readonly status: number
  readonly link: number
}

class Plane {
  readonly clock = new FakeClock(new Date())
  readonly #ports: Ports
  #lifecycle: Lifecycle | null = null

  private constructor(ports: Ports) {
    this.#ports = ports
  }

  static async start(store: Store): Promise<Plane> {
    const plane = new Plane({ api: await freePort(), status: await freePort(), link: await freePort() })
    const stateDirectory = mkdtempSync(path.join(tmpdir(), 'spout-leader-'))
    undo.push(() => rmSync(stateDirectory, { recursive: true }))
    const { api, status, link } = plane.#ports
    const set = [
      ...[`stateDirectory=${stateDirectory}`, `admin.password=${PASSWORD}`],
      ...[`api.port=${api}`, `status.port=${status}`, `agentLink.port=${link}`],
    ]
    const { config } = loadConfig(controlPlaneConfig, { set })
    const given = { clock: plane.clock, store: keptOpen(store) }
    plane.#lifecycle = await startControlPlane(config, {}, silentLogger(), given)
    undo.push(() => plane.stop())
    return plane
  }

  async stop(): Promise<void> {
    await this.#lifecycle?.stop()
  }

  async leads(): Promise<boolean> {
    const { body } = await this.#asked('/metrics')
    return /^spout_leader 1$/m.test(body)
  }

  async ready(): Promise<string> {
    return (await this.#asked('/readyz')).body
  }

  /** Whether agents can connect. */
  async takesAgents(): Promise<boolean> {
    const socket = connect(this.#ports.link, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return true
    } catch {
      return false
    } finally {
      socket.destroy()
    }
  }

  async login(): Promise<string> {
    const user = { name: 'admin', password: PASSWORD, domain: { name: 'Default' } }
    const project = { name: 'admin', domain: { name: 'Default' } }
    const auth = { identity: { methods: ['password'], password: { user } }, scope: { project } }
    const response = await this.#post('/identity/v3/auth/tokens', { auth })
    return response.headers.get('x-subject-token') ?? ''
  }

  async createProject(token: string, name: string): Promise<number> {
    return (await this.#post('/api/v1/projects', { name }, token)).status
  }

  async #asked(what: string): Promise<{ readonly body: string }> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.status}${what}`)
    return { body: await response.text() }
  }

  #post(what: string, body: unknown, token = ''): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#ports.api}${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-token': token },
      body: JSON.stringify(body),
    })
  }
}

const names = async (store: Store): Promise<readonly string[]> =>
  (await store.list('project')).items.map(({ value }) => (value as { readonly name: string }).name).sort()

test('of two control planes one leads; it stops wholly when the other took over, and leads again when that one is gone', {
  timeout: 120_000,
}, async () => {
  const clock = new FakeClock()
  const store = new MemoryStore({ clock })
  undo.push(() => store.close())
  /** Stores what has expired, lets a minute pass for a control plane, and tells whether it was cleaned up. */
  const sweeps = async (plane: Plane): Promise<boolean> => {
    const id = randomUUID()
    const value = {
      ...{ id, name: 'old', description: '', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
      ...{ nodeName: 'node', nodeGroupId: randomUUID(), secretSha256: '', usedAt: null, grant: null },
      expiresAt: '2026-01-02T00:00:00.000Z',
    }
    await store.commit([{ op: 'put', kind: 'enrolmentToken', id, scope: null, value }])
    await plane.clock.advance(SWEEP_MS)
    return (await store.get('enrolmentToken', id)) === null
  }
  const a = await Plane.start(store)
  const b = await Plane.start(store)
  expect([await a.leads(), await a.takesAgents(), await sweeps(a)]).toEqual([true, true, true])
  expect([await b.leads(), await b.takesAgents(), await sweeps(b)]).toEqual([false, false, false])
  // Both serve the API.
  const [tokenA, tokenB] = [await a.login(), await b.login()]
  expect([await a.createProject(tokenA, 'by-a'), await b.createProject(tokenB, 'by-b')]).toEqual([201, 201])
  expect([await a.ready(), await b.ready()]).toEqual(['ok\n', 'ok\n'])

  // The leader stands still for longer than its lease.
  clock.stall(LEASE_MS)
  await b.clock.advance(ASK_EVERY_MS)
  await waitFor(() => b.leads(), { what: 'the other to lead' })
  expect([await b.takesAgents(), await a.leads()]).toEqual([true, true])
  expect(await a.createProject(tokenA, 'late')).toBe(503)
  expect(await names(store)).not.toContain('late')

  // The refusal told it.
  await waitFor(async () => !(await a.leads()), { what: 'the first to stop leading' })
  expect([await a.takesAgents(), await sweeps(a), await sweeps(b)]).toEqual([false, false, true])
  // Its question for the lease.
  expect(a.clock.timers).toBe(1)
  expect(await a.createProject(tokenA, 'as-follower')).toBe(201)
  expect([await a.ready(), await b.ready()]).toEqual(['ok\n', 'ok\n'])

  await b.stop()
  await a.clock.advance(ASK_EVERY_MS)
  await waitFor(() => a.leads(), { what: 'the first to lead again' })
  expect([await a.takesAgents(), await b.takesAgents(), await sweeps(a)]).toEqual([true, false, true])
  expect(await a.createProject(tokenA, 'leads-again')).toBe(201)
  expect(await names(store)).toEqual(expect.arrayContaining(['admin', 'as-follower', 'by-a', 'by-b', 'leads-again']))
  recordFault({
    fault: 'the leading control plane stands still for longer than its lease',
    outcome:
      'another leads; the late write is refused, and the loops and the link of the first stop until it leads again',
    figure: '0 late writes stored',
  })
})
