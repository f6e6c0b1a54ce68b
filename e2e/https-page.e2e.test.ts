import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  documentedBlocks,
  documentedCommands,
  issueCertificate,
  type PageShell,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME } from './fixtures.ts'
import { spoutShell } from './spout-shell.ts'

/** What docs/https-and-routes.md says to type, typed: its commands in their order, and every list of routes that it shows. */

const PAGE = 'https-and-routes.md'
const COMMANDS = documentedCommands(PAGE)
/** Of `open sesame`. */
const HASH = '$2b$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki'
const ALL_MS = 300_000

/** The first start in a checkout makes bundles. */
const START_MS = 300_000

let system: TestSystem
let acme: Tenant

let asTenant: PageShell
let asAdministrator: PageShell

/** Runs a command of the page as the tenant; classes are the administrator's. */
async function shell(command: string, input = ''): Promise<{ readonly code: number | null; readonly said: string }> {
  const who = command.startsWith('spout class ') ? asAdministrator : asTenant
  const { code, stdout, stderr } = await who(command, input)
  return { code, said: `${stdout}${stderr}` }
}

async function mustTake(command: string, input = ''): Promise<void> {
  const { code, said } = await shell(command, input)
  expect([command, code], said).toEqual([command, 0])
}

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  asTenant = spoutShell(system, acme.token)
  asAdministrator = spoutShell(system, system.access.admin.token)
}, START_MS)
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
  const [list] = documentedBlocks(PAGE, 'json').filter(({ heading }) => heading === 'A route')
  writeFileSync(path.join(system.lab.directory, 'shop.json'), list!.lines.join('\n'))
  let vip = ''
  for (const step of COMMANDS.filter(({ heading }) => heading === 'See it')) {
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
  const steps = COMMANDS.filter(({ heading }) => heading !== 'See it')
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
  for (const { lines } of documentedBlocks(PAGE, 'json')) {
    const routes = routesOf(lines.join('\n').replaceAll('"…"', `"${usersId}"`))
    await mustTake('spout listener set shop web --routes -', JSON.stringify(routes))
    await system.active(acme, shop.id)
  }
})
