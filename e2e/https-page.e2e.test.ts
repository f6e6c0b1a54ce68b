import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundled, issueCertificate, PRODUCT_ENVIRONMENT, run, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME } from './fixtures.ts'

/** What docs/https-and-routes.md says to type, typed: its commands in their order, and every list of routes that it shows. */

const PAGE = readFileSync(path.join(import.meta.dirname, '../docs/https-and-routes.md'), 'utf8')
const PROGRAM = bundled(path.join(import.meta.dirname, '../apps/cli/src/main.ts'))
/** Of `open sesame`. */
const HASH = '$2b$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki'
const ALL_MS = 300_000

interface Typed {
  readonly command: string
  /** What the page shows that it prints. */
  readonly printed: readonly string[]
}

/** The blocks of a kind, in their order, each with the heading that it is under. */
function blocks(kind: 'console' | 'json'): readonly { readonly heading: string; readonly lines: readonly string[] }[] {
  const found: { heading: string; lines: string[] }[] = []
  let [heading, open] = ['', false]
  for (const line of PAGE.split('\n')) {
    if (line.startsWith('```')) {
      open = line === `\`\`\`${kind}`
      if (open) found.push({ heading, lines: [] })
    } else if (open) found.at(-1)!.lines.push(line)
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '')
  }
  return found
}

function typed(lines: readonly string[]): readonly Typed[] {
  const all: { command: string; printed: string[] }[] = []
  for (const line of lines)
    if (line.startsWith('$ ')) all.push({ command: line.slice(2), printed: [] })
    else all.at(-1)!.printed.push(line)
  return all
}

let system: TestSystem
let acme: Tenant

/** Runs a command of the page in a shell whose `spout` is ours, as the tenant; classes are the administrator's. */
async function shell(command: string, input = ''): Promise<{ readonly code: number | null; readonly said: string }> {
  const { lab, access } = system
  const token = command.startsWith('spout class ') ? access.admin.token : acme.token
  const spout = `spout() { ${process.execPath} ${PROGRAM} "$@"; }`
  const place = `client() { ${lab.argvIn('client', []).join(' ')} "$@"; }`
  const text = command.replaceAll('./dev spout', 'spout').replaceAll('./dev in client', 'client')
  const env = { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: token, NO_COLOR: '1' }
  const script = `cd ${lab.directory}\n${spout}\n${place}\n${text}`
  const { code, stdout, stderr } = await run(['bash', '-c', script], { env, input })
  return { code, said: `${stdout}${stderr}` }
}

async function mustTake(command: string, input = ''): Promise<void> {
  const { code, said } = await shell(command, input)
  expect([command, code], said).toEqual([command, 0])
}

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
})
afterAll(() => system?.destroy())

const routesOf = (text: string): readonly object[] => {
  const shown = JSON.parse(text) as object | readonly object[]
  return Array.isArray(shown) ? shown : [{ name: 'shown', action: shown }]
}

/** The page's addresses and ours: the VIP, and who a member sees. */
const compared = (text: string, vip: string): string =>
  text
    .replaceAll('\r', '')
    .replaceAll('198.51.100.16', vip)
    .replaceAll(/"from":"[^"]*"/g, '"from":"…"')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim()

it('"See it" prints what it shows', { timeout: ALL_MS }, async () => {
  const [list] = blocks('json').filter(({ heading }) => heading === 'A route')
  writeFileSync(path.join(system.lab.directory, 'shop.json'), list!.lines.join('\n'))
  let vip = ''
  for (const { lines } of blocks('console').filter(({ heading }) => heading === 'See it'))
    for (const step of typed(lines)) {
      const command = step.command.replaceAll('198.51.100.16', vip)
      if (step.printed.length === 0) {
        await mustTake(command)
        const { items } = await system.api<{ items: readonly { id: string; vips: readonly { address: string }[] }[] }>(
          acme,
          'GET',
          '/load-balancers',
        )
        vip = items[0]!.vips[0]!.address
        await system.active(acme, items[0]!.id)
        continue
      }
      // A tenth of the requests for `/cart` goes to the other member.
      const wanted = compared(step.printed.join('\n'), vip)
      const said = async () => compared((await shell(command)).said, vip)
      await waitFor(async () => (await said()) === wanted, { what: `${command} to print ${wanted}` }).catch(async () =>
        expect(await said(), command).toBe(wanted),
      )
    }
})

it('every other command of the page is taken', { timeout: ALL_MS }, async () => {
  const { directory } = system.lab
  const authority = issueCertificate({ isAuthority: true, alternatives: '' })
  for (const name of ['staff-ca', 'ca']) writeFileSync(path.join(directory, `${name}.crt`), authority.certificate)
  for (const name of ['shop', 'blog', 'mail']) {
    const issued = issueCertificate({ names: [`${name}.example.com`] })
    writeFileSync(path.join(directory, `${name}.crt`), issued.certificate)
    writeFileSync(path.join(directory, `${name}.key`), issued.key)
  }
  const prepared = [
    'spout lb create edge --pool public',
    'spout pool create edge mail --protocol tcp-proxy',
    'spout certificate create mail --chain mail.crt --key mail.key',
  ]
  for (const command of prepared) await mustTake(command)
  const steps = blocks('console')
    .filter(({ heading }) => heading !== 'See it')
    .flatMap(({ lines }) => typed(lines))
  expect(steps.length).toBeGreaterThan(10)
  for (const step of steps) {
    const [, file] = /^cat (\S+)$/.exec(step.command) ?? []
    if (file !== undefined) writeFileSync(path.join(directory, file), step.printed.join('\n'))
    else await mustTake(step.command)
  }
})

it('every list of routes of the page is taken, and nodes carry it', { timeout: ALL_MS }, async () => {
  const users = { name: 'staff', users: `joe:${HASH}\n` }
  const { id: usersId } = await system.api<{ id: string }>(acme, 'POST', '/certificates', users)
  for (const pool of ['next', 'static', 'auth']) await mustTake(`spout pool create shop ${pool} --protocol http`)
  const { items } = await system.api<{ items: readonly { id: string; name: string }[] }>(acme, 'GET', '/load-balancers')
  const shop = items.find(({ name }) => name === 'shop')!
  for (const { lines } of blocks('json')) {
    const routes = routesOf(lines.join('\n').replaceAll('"…"', `"${usersId}"`))
    await mustTake('spout listener set shop web --routes -', JSON.stringify(routes))
    await system.active(acme, shop.id)
  }
})
