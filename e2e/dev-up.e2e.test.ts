import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type RunResult, run } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliPage } from './dev-up/cli-page.ts'
import { type Demo, openDemo } from './dev-up/demo.ts'
import { networksPage } from './dev-up/networks-page.ts'
import { octaviaPage } from './dev-up/octavia-page.ts'

/** Two checkouts on one machine, each with its own state file. */

const ROOT = path.resolve(import.meta.dirname, '..')
const PROGRAM = path.join(ROOT, 'tools/dev/main.ts')
const directory = mkdtempSync(path.join(tmpdir(), 'spout-dev-up-'))
const dev = (checkout: string, args: readonly string[]): Promise<RunResult> =>
  run([process.execPath, PROGRAM, ...args], {
    env: { SPOUT_DEV_STATE: path.join(directory, checkout), SPOUT_TOKEN: '', NO_COLOR: '1' },
    timeoutMs: 120_000,
  })
const endpointOf = (checkout: string): string =>
  (JSON.parse(readFileSync(path.join(directory, checkout), 'utf8')) as { access: { endpoint: string } }).access.endpoint

let holder: Server
let taken = 0

beforeAll(async () => {
  // Some process has the usual port on this machine: this test's, or another.
  holder = createServer()
  await new Promise<void>((resolve) => {
    holder.once('error', () => resolve()).listen(9130, '127.0.0.1', resolve)
  })
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  taken = (other.address() as AddressInfo).port
  holder.once('close', () => other.close())
})
afterAll(async () => {
  for (const checkout of ['first', 'second', 'whole']) await dev(checkout, ['down'])
  holder.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('./dev up --bare with the port taken', () => {
  it('takes another one and says who has the usual one; two are up at once, and env knows which is which', async () => {
    const [first, second] = [await dev('first', ['up', '--bare']), await dev('second', ['up', '--bare'])]
    for (const { code, stdout, stderr } of [first, second]) {
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(
        /port 9130 is taken by process \d+ \(.+\): the control plane gets \d+; \.\/dev env knows it/,
      )
    }
    expect(endpointOf('first')).not.toBe(endpointOf('second'))
    for (const checkout of ['first', 'second']) {
      const env = await dev(checkout, ['env', '--admin'])
      expect(env.stdout).toContain(`export SPOUT_ENDPOINT='${endpointOf(checkout)}'`)
      const projects = await dev(checkout, ['spout', 'project', 'list'])
      expect(projects.code, projects.stderr).toBe(0)
      expect(projects.stdout).toContain('admin')
    }
  })

  it('refuses a port that was asked for, naming who has it, without a stack', async () => {
    const refused = await dev('third', ['up', '--bare', '--set', `api.port=${taken}`])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(`port ${taken} is taken by process ${process.pid} (`)
    expect(refused.stderr).toContain('choose another with --set api.port=PORT')
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  })
})

describe('./dev up', () => {
  let demo: Demo

  it('tells the story that README shows', async () => {
    const told = await dev('whole', ['up', '--set', 'api.port=0'])
    expect(told.code, told.stdout + told.stderr).toBe(0)
    const lines = told.stdout.split('\n').map(withoutFigures)
    let at = 0
    for (const shown of storyOfReadme()) {
      const found = lines.indexOf(withoutFigures(shown), at)
      expect(found, `README shows, here or later: ${shown}\n${told.stdout}`).toBeGreaterThanOrEqual(at)
      at = found + 1
    }
    expect(lines).toContain('Try next')
    demo = openDemo(path.join(directory, 'whole'))
  })

  cliPage(() => demo)
  networksPage(() => demo)
  octaviaPage(() => demo)

  it('changes nothing when it is typed again, and down takes all of it away', async () => {
    const again = await dev('whole', ['up', '--json'])
    expect(again.code, again.stderr).toBe(0)
    const { bare, page, story } = JSON.parse(again.stdout)
    expect({ bare, ok: story.ok }).toEqual({ bare: false, ok: true })
    expect(page.url).toBe(`${endpointOf('whole')}/ui/`)
    expect(page.logins[0]).toEqual({ user: 'alice', password: 'alice-in-the-lab', project: 'acme' })
    const shown = await fetch(page.url)
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('<div id="page">')])
    const [{ user: userName, password }] = page.logins
    const opened = await fetch(`${endpointOf('whole')}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'spout-page': '1' },
      body: JSON.stringify({ userName, password }),
    })
    expect([opened.status, await opened.json()]).toMatchObject([201, { projects: [{ name: 'acme' }] }])
    expect(story.loadBalancers.map(({ name }: { name: string }) => name)).toEqual(['shop', 'blog'])
    expect((await dev('whole', ['up', '--bare'])).stderr).toContain('the whole system is up already')
    expect(await dev('whole', ['down'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Taken down/) })
    expect((await dev('whole', ['env'])).code).toBe(2)
  })
})

/** The lines of `./dev up` that README shows, in order. */
function storyOfReadme(): readonly string[] {
  const [, block = ''] = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split('$ ./dev up\n')
  const lines = block
    .slice(0, block.indexOf('```'))
    .split('\n')
    .filter((line) => line.trim() !== '')
  expect(lines.length).toBeGreaterThan(20)
  return lines
}

/** Removes what differs between runs: times, counts, the lab, its port, and which of two nodes or addresses is used. */
const withoutFigures = (line: string): string =>
  line
    .replace(/^ *\d+\.\d s {2}/, '')
    .replace(/\blab \w+:/, 'lab L:')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:P')
    .replaceAll(/198\.51\.100\.1[67]/g, 'VIP')
    .replaceAll(/\bnode[12]\b(?! and node)(?<!and node[12])/g, 'nodeN')
    .replaceAll(/\b(member[12]) \d+/g, '$1 N')
    .replaceAll(/\d+ (ms|bytes)/g, 'N $1')
    .trim()
