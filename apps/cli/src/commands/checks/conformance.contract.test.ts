import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import {
  bundled,
  callApi,
  Lab,
  LONG_TESTS,
  PRODUCT_ENVIRONMENT,
  run,
  type SystemAccess,
  startControlPlane,
  waitFor,
} from '@spout/testkit'
import { type OctaviaServer, startOctaviaServer } from '@spout/testkit/octavia-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The command as people run it: against Spout, as a tenant of its Keystone, and against Debian's octavia-api without a
// token.
const MAIN = bundled(path.join(import.meta.dirname, '../../main.ts'))
const MINUTES = 60_000

interface Report {
  readonly seed: number
  readonly left: readonly string[]
  readonly results: readonly {
    readonly group: string
    readonly name: string
    readonly outcome: 'passed' | 'failed' | 'skipped'
    readonly reason: string | null
  }[]
}

let lab: Lab
let clouds: string
beforeAll(async () => {
  lab = await Lab.create()
  mkdirSync(lab.directory, { recursive: true })
  clouds = path.join(lab.directory, 'clouds.yaml')
})
afterAll(() => lab?.destroy())

const conformance = (...words: readonly string[]) =>
  run([process.execPath, MAIN, 'conformance', ...words], {
    env: { ...PRODUCT_ENVIRONMENT, NO_COLOR: '1', OS_CLIENT_CONFIG_FILE: clouds },
    timeoutMs: 10 * MINUTES,
  })

const named = ({ results }: Report, outcome: string): readonly string[] =>
  results.flatMap((one) => (one.outcome === outcome ? [`${one.group}: ${one.name}: ${one.reason}`] : []))

describe('at Spout', () => {
  let spout: SystemAccess
  const network = randomUUID()

  beforeAll(async () => {
    spout = await startControlPlane(lab, { set: ['octavia.noop=true', 'limits.requestsPerSecond=100000'] })
    const cloud = async (name: string) => {
      const as = <T>(where: string, body: object) => callApi<T>(spout.endpoint, spout.admin.token, 'POST', where, body)
      const { id: projectId } = await as<{ id: string }>('/projects', { name })
      const password = `password of ${name}`
      await as('/users', { name, password, roles: [{ projectId, role: 'member' }] })
      const auth = { auth_url: `${spout.endpoint}/identity/v3`, username: name, project_name: name, password }
      return [name, { auth }] as const
    }
    const all = { clouds: Object.fromEntries([await cloud('one'), await cloud('two')]) }
    writeFileSync(clouds, JSON.stringify(all))
  }, 2 * MINUTES)

  const at = ['--os-cloud', 'one', '--network', network] as const
  const listed = () =>
    fetch(`${spout.endpoint}/load-balancer/v2/lbaas/loadbalancers`, { headers: { 'x-auth-token': spout.admin.token } })

  test(
    'all checks pass but those for which something is missing, and nothing is left',
    async () => {
      const { code, stdout, stderr } = await conformance(...at, '--other-os-cloud', 'two', '--seed', '7', '--json')
      const report = JSON.parse(stdout) as Report
      expect({ failed: named(report, 'failed'), stderr }).toEqual({ failed: [], stderr: '' })
      expect(named(report, 'skipped')).toEqual([expect.stringMatching(/^traffic: .* no member with traffic is named$/)])
      expect(named(report, 'passed').length).toBeGreaterThan(110)
      expect({ code, left: report.left, seed: report.seed }).toEqual({ code: 0, left: [], seed: 7 })
      expect(await (await listed()).json()).toMatchObject({ loadbalancers: [] })
    },
    10 * MINUTES,
  )

  test(
    'an API that forgets filters and loses writes fails, with what was found',
    async () => {
      const { endpoint, admin } = spout
      await using liar = await startLiar(`${endpoint}/load-balancer`)
      const variables = { OS_TOKEN: admin.token, OS_AUTH_TYPE: 'token', OS_AUTH_URL: `${endpoint}/identity/v3` }
      const project = { OS_PROJECT_NAME: 'admin' }
      const { code, stdout, stderr } = await run(
        [process.execPath, MAIN, 'conformance', '--network', network, '--endpoint', liar.url],
        { env: { ...PRODUCT_ENVIRONMENT, NO_COLOR: '1', ...variables, ...project }, timeoutMs: 10 * MINUTES },
      )
      expect(stdout).toMatch(/^seed \d+\n/)
      expect(stdout).toMatch(/^failed +lists +load balancers by two tags: tags=red,green finds the load balancer$/m)
      expect(stdout).toMatch(/^failed +pools +is changed: name is shown as "before", but was written as "after"$/m)
      expect(stderr).toMatch(/^spout: \d+ of \d+ checks failed\n/)
      expect(code).toBe(1)
      expect(await (await listed()).json()).toMatchObject({ loadbalancers: [] })
    },
    10 * MINUTES,
  )

  test(
    'an interrupted run leaves nothing',
    async () => {
      const words = ['conformance', ...at, '--json']
      const child = spawn(process.execPath, [MAIN, ...words], {
        env: { ...PRODUCT_ENVIRONMENT, OS_CLIENT_CONFIG_FILE: clouds },
      })
      const output: Buffer[] = []
      child.stdout.on('data', (piece: Buffer) => output.push(piece))
      const ended = once(child, 'exit')
      await waitFor(
        async () => ((await (await listed()).json()) as { loadbalancers: unknown[] }).loadbalancers.length > 0,
        { what: 'the run to make something', everyMs: 20 },
      )
      child.kill('SIGINT')
      expect(await ended).toEqual([1, null])
      expect(JSON.parse(Buffer.concat(output).toString())).toMatchObject({ left: [] })
      expect(await (await listed()).json()).toMatchObject({ loadbalancers: [] })
    },
    10 * MINUTES,
  )

  test('what is called wrongly is said', async () => {
    expect(await conformance('--os-cloud', 'one')).toMatchObject({
      ...{ code: 2, stderr: 'spout: name one of --subnet and --network\n' },
    })
    expect(await conformance('--os-cloud', 'three', '--network', network)).toMatchObject({
      ...{ code: 2, stderr: 'spout: no clouds.yaml has cloud three\n' },
    })
    expect(await conformance(...at, '--only', 'lists', 'members')).toMatchObject({
      ...{ code: 2, stderr: expect.stringMatching(/^spout: --only: there is no part members: projects, pools, /) },
    })
  })
})

describe("at Debian's octavia-api", () => {
  // All parts take minutes: octavia-api needs seconds where Spout needs milliseconds.
  const some = LONG_TESTS ? [] : ['--only', 'listeners', 'projects', 'traffic']
  let octavia: OctaviaServer
  beforeAll(async () => {
    octavia = await startOctaviaServer(lab, { processes: 1, isDurable: false })
  }, 5 * MINUTES)

  test(
    'only what Octavia 11 is known to do otherwise fails, and nothing is left',
    async () => {
      const auth = { endpoint: octavia.endpoint, project_id: randomUUID() }
      writeFileSync(clouds, JSON.stringify({ clouds: { octavia: { auth_type: 'none', auth } } }))
      let isRunning = true
      // Its provider does nothing, so the test marks the work as done, and tries again after a deadlock with a request.
      const done = async () => {
        await octavia.confirm()
        return !isRunning
      }
      const provider = waitFor(done, { what: 'the run to end', everyMs: 100, timeoutMs: 10 * MINUTES })
      const [{ stdout, stderr }] = await Promise.all([
        conformance('--os-cloud', 'octavia', '--subnet', randomUUID(), '--json', ...some).finally(() => {
          isRunning = false
        }),
        provider,
      ])
      const report = JSON.parse(stdout) as Report
      // Its noop network driver does not know the network of a subnet.
      const known = ['load balancers: the answer of POST has vip_network_id: it is null']
      expect(named(report, 'failed'), stderr).toEqual(known)
      // Without tokens every caller is the administrator.
      expect(named(report, 'skipped').filter((text) => !/^(projects|traffic): /.test(text))).toEqual([])
      expect(named(report, 'passed').length).toBeGreaterThan(LONG_TESTS ? 110 : 50)
      expect(report.left).toEqual([])
    },
    10 * MINUTES,
  )
})

/** Passes calls on, but drops filters by tags and changes of pools. */
async function startLiar(target: string) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', target)
    for (const name of ['tags', 'tags-any', 'not-tags', 'not-tags-any']) url.searchParams.delete(name)
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', async () => {
      const method = request.method === 'PUT' && /\/pools\/[^/]+$/.test(url.pathname) ? 'GET' : request.method
      const answer = await fetch(`${target}${url.pathname}${url.search}`, {
        ...(method !== undefined && { method }),
        headers: { 'x-auth-token': String(request.headers['x-auth-token']), 'content-type': 'application/json' },
        ...(pieces.length > 0 && method !== 'GET' && { body: Buffer.concat(pieces) }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
