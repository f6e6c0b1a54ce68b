import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, BOLT, CLIENT, member, PORT, vipOf } from './fixtures.ts'

const FILE_BYTES = 20_000

let directory: string
let system: TestSystem
let acme: Tenant
let bolt: Tenant
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'spout-access-'))
  const set = [`accessLogs.directory=${directory}`, `accessLogs.megabytes=${FILE_BYTES / 1e6}`, 'accessLogs.files=3']
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: ['node1'], agents: { set } })
  acme = system.tenants[0]!
  bolt = system.tenants[1]!
  const make = (who: Tenant, name: string, format: string) =>
    system.createLoadBalancer(who, {
      name,
      pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
      listeners: [
        { name: 'logged', protocol: 'http', port: 80, defaultPool: 'web', accessLog: { format } },
        { name: 'silent', protocol: 'http', port: 81, defaultPool: 'web' },
      ],
    })
  shop = await make(acme, 'shop', '{client} {method} {uri} {status} "{user-agent}"')
  blog = await make(bolt, 'blog', 'json')
})
afterAll(async () => {
  await system?.destroy()
  await rm(directory, { recursive: true, force: true })
})

const get = (of: ShownLoadBalancer, port: number, at: string, ...more: readonly string[]) =>
  system.lab.must('client', [
    ...['curl', '-s', '-o', '/dev/null', '--max-time', '60', ...more],
    `http://${vipOf(of)}:${port}${at}`,
  ])

const fileOf = ({ projectId }: Tenant): string => path.join(directory, `${projectId}.log`)
const linesOf = async (who: Tenant): Promise<readonly string[]> =>
  (await readFile(fileOf(who), 'utf8')).trimEnd().split('\n')

/** Waits until the project's log has a line that a request made, and so all before it. */
async function linesTo(who: Tenant, of: ShownLoadBalancer, last: string): Promise<readonly string[]> {
  await get(of, 80, last)
  return waitFor(
    async () => {
      const lines = await linesOf(who)
      return lines.some((line) => line.includes(last)) && lines
    },
    { what: `the line of ${last}` },
  )
}

it('a request is a line in the format of its listener and the file of its project, a hostile one too', async () => {
  await get(shop, 80, '/plain?x=1', '-A', 'tester/1')
  await get(shop, 81, '/silent')
  await get(shop, 80, '/{status}%0a%1b', '-g', '-A', '\u001b[2J "{client}" %s \\')
  await get(blog, 80, '/json', '-A', '\u001b[2J"')
  const lines = await linesTo(acme, shop, '/last')
  expect(lines.slice(0, 2)).toEqual([
    `${CLIENT} GET /plain?x=1 200 "tester/1"`,
    // The member refuses what has an escape character.
    String.raw`${CLIENT} GET /{status}%0a%1b 400 "\x1B[2J \x22{client}\x22 %s \x5C"`,
  ])
  expect(lines).toHaveLength(3)
  const [line] = await linesTo(bolt, blog, '/last')
  expect(JSON.parse(line!)).toMatchObject({
    ...{ client: CLIENT, method: 'GET', uri: '/json', status: 400, 'user-agent': '\u001b[2J"', member: '10.0.0.11' },
    ...{ listener: blog.listeners[0]!.id, pool: blog.pools[0]!.id },
  })
  expect(line).toMatch(/^[ -~]+$/)
  expect((await stat(fileOf(acme))).mode & 0o777).toBe(0o640)
})

it("one tenant's flood fills its own files up to their bound, and another's lines all come through", async () => {
  const flood = get(shop, 80, '/[1-4000]', '-A', 'x'.repeat(200))
  const wanted = Array.from({ length: 20 }, (_, at) => `/while/${at}`)
  for (const one of wanted) await get(blog, 80, one)
  await flood
  const lines = await linesTo(bolt, blog, '/after')
  const seen = lines.map((line) => (JSON.parse(line) as { uri: string }).uri).filter((uri) => uri.startsWith('/while/'))
  expect(seen).toEqual(wanted)
  const own = (await readdir(directory)).filter((name) => name.startsWith(acme.projectId)).sort()
  expect(own).toEqual(['', '.1', '.2'].map((end) => `${acme.projectId}.log${end}`))
  for (const name of own) expect((await stat(path.join(directory, name))).size).toBeLessThanOrEqual(FILE_BYTES)
})

it('a listener that wants no more lines has none', async () => {
  const place = `/load-balancers/${blog.id}/listeners/${blog.listeners[0]!.id}`
  await system.api(bolt, 'PATCH', place, { accessLog: null })
  await system.active(bolt, blog.id)
  await get(blog, 80, '/off')
  await system.api(bolt, 'PATCH', place, { accessLog: { format: '{uri}' } })
  await system.active(bolt, blog.id)
  const lines = await linesTo(bolt, blog, '/on')
  expect(lines.at(-1)).toBe('/on')
  expect(lines.some((line) => line.includes('/off'))).toBe(false)
})

it('a format that is none is refused with the reason', async () => {
  const place = `/load-balancers/${blog.id}/listeners/${blog.listeners[1]!.id}`
  const refused = (accessLog: object) => expect(system.api(bolt, 'PATCH', place, { accessLog })).rejects
  await refused({ format: '{status} {password}' }).toThrow(/accessLog\.format: has no field named \\"password\\"/)
  await refused({ format: '{status}\n' }).toThrow(/accessLog\.format: has characters other than printable ASCII/)
})
