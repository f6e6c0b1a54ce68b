import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { NodePool } from '@spout/model'
import { http } from '@spout/runtime/node-http'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Ask, ask, httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const web: LabMember[] = []

beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) web.push(await started(httpMember(name)))
})

const OURS: NodePool['session'] = { by: 'cookie' }
const THEIRS: NodePool['session'] = { by: 'application-cookie', cookieName: 'JSESSIONID' }

/** Two listeners with a pool each, of the same members. */
const entryOf = (session: NonNullable<NodePool['session']>, members = web) =>
  sampleEntry(
    'web',
    [sampleService('web-80'), sampleService('web-81', { port: 81, pool: 2 })],
    [1, 2].map((number) => samplePool(number, { session, members: members.map((member) => memberAt(member)) })),
  )

interface Reply {
  readonly member: string
  /** The first pair of each `Set-Cookie`. */
  readonly cookies: readonly string[]
  readonly text: string
}

/** As curl sends it, with these cookies. */
async function get(port: number, cookies: readonly string[] = [], path = '/'): Promise<Reply> {
  const jar = cookies.length === 0 ? [] : ['-b', cookies.join('; ')]
  const { stdout } = await run('curl', ['-si', ...jar, `http://${proxy}:${port}${path}`])
  const [head = ''] = stdout.split('\r\n\r\n')
  const of = (name: string) =>
    [...head.matchAll(new RegExp(`^${name}: (.*)$`, 'gim'))].map(([, value]) => value!.trim())
  return { member: of('x-member')[0] ?? '', cookies: of('set-cookie').map((line) => line.split(';')[0]!), text: head }
}

interface Asked {
  /** When it was sent, of `performance.now`. */
  readonly atMs: number
  /** The member that answered. */
  readonly by: string | undefined
}

/** Asks one request after the other until `isEnough`. @param asked gets what was answered */
async function askUntil(isEnough: () => boolean, asked: Asked[], request: Ask): Promise<void> {
  while (!isEnough()) {
    const atMs = performance.now()
    asked.push({ atMs, by: (await ask(request)).member })
  }
}

describe('our cookie', () => {
  test('keeps a client with its member, and others are balanced', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(OURS))
    const port = portOf(driver, 'web-80')
    const first = await get(port)
    expect(first.cookies).toHaveLength(1)
    expect(first.text).toMatch(/^set-cookie: SPOUT-[0-9a-f]{8}=m[0-9a-f]{16}; Path=\/; HttpOnly$/im)
    expect(first.text).toMatch(/^cache-control: private$/im)
    for (let count = 0; count < 6; count++)
      expect(await get(port, ['other=1', ...first.cookies])).toMatchObject({ member: first.member, cookies: [] })
    const others = await Promise.all(Array.from({ length: 9 }, () => get(port)))
    expect(new Set(others.map(({ member }) => member)).size).toBe(3)
    // In another pool the same member and the cookie have other names, so the two cookies do not replace each other.
    const elsewhere = await get(portOf(driver, 'web-81'), first.cookies)
    expect(elsewhere.cookies).toHaveLength(1)
    expect(elsewhere.cookies[0]!.split('=')[0]).not.toBe(first.cookies[0]!.split('=')[0])
  })

  test('gives the client of a member that is down or gone another one, and a new cookie', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(OURS))
    const port = portOf(driver, 'web-80')
    const { member, cookies } = await get(port)
    await put(driver, entryOf(OURS), [member])
    const moved = await get(port, cookies)
    expect(moved.member).not.toBe(member)
    expect(moved.cookies).toHaveLength(1)
    await put(driver, entryOf(OURS))
    expect((await get(port, cookies)).member).toBe(member)
    await put(
      driver,
      entryOf(
        OURS,
        web.filter(({ name }) => name !== member),
      ),
    )
    const left = await get(port, cookies)
    expect(left.member).not.toBe(member)
    expect(left.cookies).toHaveLength(1)
    for (const forged of ['x', '', 'b0', 'a'.repeat(4_000), `${'m'}${'0'.repeat(16)}`])
      expect((await get(port, [`${cookies[0]!.split('=')[0]}=${forged}`])).cookies).toHaveLength(1)
  })

  test('leads no client of a removed member back to it while its connections end', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(OURS))
    const port = portOf(driver, 'web-80')
    const returned: Asked[] = []
    for (let removal = 0; removal < 8; removal++) {
      const { member, cookies } = await get(port)
      const agents = Array.from({ length: 16 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
      const headers = { cookie: cookies[0]! }
      // They ask while it is removed, so its connections become idle after that.
      const asked: Asked[] = []
      let removedMs = Number.POSITIVE_INFINITY
      const since = () => asked.filter(({ atMs }) => atMs > removedMs)
      const isEnough = () => since().length >= 500
      const asking = Promise.all(
        agents.map((agent) => askUntil(isEnough, asked, { host: proxy, port, agent, headers })),
      )
      await expect.poll(() => asked.length).toBeGreaterThan(100)
      const others = web.filter(({ name }) => name !== member)
      await put(driver, entryOf(OURS, others))
      removedMs = performance.now()
      await asking
      returned.push(...since().filter(({ by }) => by === member))
      for (const agent of agents) agent.destroy()
      await put(driver, entryOf(OURS))
    }
    expect(returned).toEqual([])
  })

  test('outlives the process', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(OURS))
    const port = portOf(driver, 'web-80')
    const { member, cookies } = await get(port)
    const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
    process.kill((await processesOn(files.config))[0]!.pid, 'SIGKILL')
    await expect
      .poll(() => get(port, cookies).catch(() => null), { timeout: 10_000 })
      .toMatchObject({ member, cookies: [] })
  })
})

describe('our cookie with attributes', () => {
  const SAID = { name: 'route', path: '/shop/%2F"x', sameSite: 'lax', secure: true, maxAgeSeconds: 60 } as const

  test('looks as the pool says, and keeps a client', async () => {
    const driver = lab.driver()
    await put(driver, entryOf({ by: 'cookie', cookie: SAID }))
    const port = portOf(driver, 'web-80')
    const { member, cookies, text } = await get(port)
    const [, line] = /^set-cookie: (.*)$/im.exec(text) ?? []
    expect(line).toMatch(/^route=m[0-9a-f]{16}; Path=\/shop\/%2F"x; HttpOnly; Max-Age=60; SameSite=Lax; Secure$/)
    for (let count = 0; count < 6; count++)
      expect(await get(port, ['other=1', 'xroute=m0', ...cookies])).toMatchObject({ member, cookies: [] })
    for (const forged of ['x', '', 'b0', 'a'.repeat(4_000)])
      expect((await get(port, [`route=${forged}`])).cookies).toHaveLength(1)
  })

  test('takes each of them alone', async () => {
    const driver = lab.driver()
    for (const [cookie, end] of [
      [{ sameSite: 'strict' }, '; Path=/; HttpOnly; SameSite=Strict'],
      [{ sameSite: 'none' }, '; Path=/; HttpOnly; SameSite=None'],
      [{ secure: false }, '; Path=/; HttpOnly'],
      [{ path: '/a' }, '; Path=/a; HttpOnly'],
      [{ maxAgeSeconds: 5 }, '; Path=/; HttpOnly; Max-Age=5'],
    ] as const) {
      await put(driver, entryOf({ by: 'cookie', cookie }))
      const { text } = await get(portOf(driver, 'web-80'))
      const [, line] = /^set-cookie: (.*)$/im.exec(text) ?? []
      expect(line?.replace(/^SPOUT-[0-9a-f]{8}=m[0-9a-f]{16}/, '')).toBe(end)
    }
  })
})

describe("the members' cookie", () => {
  test('keeps a client with the member that set it, as long as the client has it', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(THEIRS))
    const port = portOf(driver, 'web-80')
    expect((await get(port)).cookies).toEqual([])
    const { member, cookies, text } = await get(port, [], '/login')
    expect(cookies).toEqual(['theme=dark', expect.stringMatching(/^JSESSIONID=/), expect.stringMatching(/^SPOUT-/)])
    expect(text).toMatch(/^set-cookie: SPOUT-[0-9a-f]{8}=m[0-9a-f]{16}; Path=\/; HttpOnly$/im)
    for (let count = 0; count < 6; count++) expect(await get(port, cookies)).toMatchObject({ member, cookies: [] })
    const without = cookies.filter((cookie) => !cookie.startsWith('JSESSIONID'))
    const others = await Promise.all(Array.from({ length: 9 }, () => get(port, without)))
    expect(new Set(others.map((one) => one.member)).size).toBe(3)
    await put(driver, entryOf(THEIRS), [member])
    const moved = await get(port, cookies, '/login')
    expect(moved.member).not.toBe(member)
    const after = [...moved.cookies]
    await put(driver, entryOf(THEIRS))
    expect(await get(port, after)).toMatchObject({ member: moved.member, cookies: [] })
  })
})
