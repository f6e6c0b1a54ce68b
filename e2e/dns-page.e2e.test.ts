import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addressOf, NameServer, textRecord } from '@spout/dns'
import {
  documented,
  documentedBlocks,
  environmentOf,
  must,
  type PageShell,
  PUBLIC_RANGE6,
  run,
  type Tenant,
  TestSystem,
  TypedPage,
  unpackedPackages,
  waitFor,
} from '@spout/testkit'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'
import { spoutShell } from './spout-shell.ts'

/** What docs/dns.md says to type, typed, with the settings that it shows. */

const PAGE = 'dns.md'
const CLAIMED = 'shop.example'
/** The settings that the page shows, by their names; where the lab's name server and its secret are is the lab's. */
const SETTINGS = Object.fromEntries(
  [...documented(PAGE, 'zones:').matchAll(/^ *(?:- )?(\w+): (\S+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
)
const ZONE = SETTINGS['name'] ?? ''
/** A name under which the page publishes a load balancer. */
const NAME = `shop.${ZONE}`

/** The first start in a checkout downloads packages and makes bundles. */
const START_MS = 300_000

const directory = mkdtempSync(path.join(tmpdir(), 'spout-dns-page-'))
let bind: TestNameServer
let system: TestSystem
let tenant: Tenant
let asTenant: PageShell
let asAdministrator: PageShell
let page: TypedPage

const key = () => {
  const { name, algorithm, secret } = bind.keys[0]!
  return { name, algorithm, secret: Buffer.from(secret, 'base64') }
}
const server = () => new NameServer({ host: bind.host, port: bind.port, key: key() })

beforeAll(async () => {
  bind = await TestNameServer.start([{ name: ZONE }, { name: CLAIMED }])
  // It is like the one of the page.
  expect([bind.keys[0]!.name, bind.keys[0]!.algorithm]).toEqual([SETTINGS['keyName'], SETTINGS['algorithm']])
  const zone = { name: ZONE, keyName: SETTINGS['keyName'], algorithm: SETTINGS['algorithm'] }
  const secretFile = path.join(directory, 'secret')
  writeFileSync(secretFile, `${bind.keys[0]!.secret}\n`, { mode: 0o600 })
  system = await TestSystem.start({
    tenants: [{ ...ACME, project: 'shop' }],
    nodes: ['node1'],
    set: [
      `dns.owner=${SETTINGS['owner']}`,
      `dns.ttlSeconds=${SETTINGS['ttlSeconds']}`,
      `dns.zones=${JSON.stringify([{ ...zone, host: bind.host, port: bind.port, secretFile }])}`,
      `domains.resolvers=${JSON.stringify([`${bind.host}:${bind.port}`])}`,
    ],
  })
  tenant = system.tenants[0]!
  asTenant = spoutShell(system, tenant.token)
  asAdministrator = spoutShell(system, system.access.admin.token)
  page = new TypedPage(PAGE, (command, input) =>
    (command.startsWith('spout project ') ? asAdministrator : asTenant)(command, input),
  )
}, START_MS)
afterAll(async () => {
  await system?.destroy()
  await bind?.stop()
  rmSync(directory, { recursive: true })
})

it('BIND takes the settings of the page, with a key that tsig-keygen makes', async () => {
  const root = await unpackedPackages('bind9', ['bind9'])
  const env = environmentOf(root)
  const program = (name: string) => path.join(root, globSync(`usr/{bin,sbin}/${name}`, { cwd: root })[0] ?? name)
  const made = await must([program('tsig-keygen'), SETTINGS['keyName'] ?? ''], { env })
  const [settings] = documentedBlocks(PAGE, '').filter(({ lines }) => lines.some((line) => line.startsWith('key ')))
  const text = settings!.lines.filter((line) => !line.startsWith('key ')).join('\n')
  const file = path.join(directory, 'named.conf')
  writeFileSync(file, `${made}\n${text}\n`)
  expect(text).toContain(`key "${/^key "(.*)"/.exec(made)?.[1]}"`)
  expect(await run([program('named-checkconf'), file], { env })).toEqual({ code: 0, stdout: '', stderr: '' })
})

it('a name that a domain of the project covers leads to the addresses of the load balancer', async () => {
  const { id: poolId } = await system.api<{ id: string }>(system.access.admin, 'POST', '/address-pools', {
    ...{ name: 'public6', ranges: [PUBLIC_RANGE6], cidr: '2001:db8:f::/64' },
  })
  const shop = await system.createLoadBalancer(tenant, {
    name: 'shop',
    vips: [system.publicPoolId, poolId].map((pool) => ({ from: 'pool', poolId: pool })),
    pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
    listeners: [{ name: 'web', protocol: 'http', port: 80, defaultPool: 'web' }],
  })
  const early = await asTenant(`spout lb set shop --dns-names ${NAME}`)
  expect(early.stderr).toContain(`Field dnsNames[0]: no domain of the project covers ${NAME}`)
  await page.type('spout project set shop --domains')
  await page.type('spout lb set shop --dns-names')
  const published = async (type: 'A' | 'AAAA') =>
    (await server().query(NAME, type)).map((record) => [record.ttl, addressOf(record)])
  await waitFor(async () => (await published('A')).length + (await published('AAAA')).length === 2, {
    what: `${NAME} to be published`,
  })
  const ttl = Number(SETTINGS['ttlSeconds'])
  expect(await published('A')).toEqual([[ttl, vipOf(shop)]])
  expect(await published('AAAA')).toEqual([[ttl, shop.vips[1]!.address]])
  // As the page shows it.
  const [diagram] = documentedBlocks(PAGE, '')
  for (const type of ['A   ', 'AAAA']) expect(diagram!.lines.join('\n')).toContain(`${NAME}.  ${ttl}  IN  ${type} `)
  expect((await asTenant('spout lb list -o wide')).stdout).toContain(NAME)
})

it('a claim says which record proves it, and is proven once that is published', async () => {
  const claim = await page.type('spout domain claim')
  const withoutToken = (text: string) => text.replace(/(spout-domain-verification=)[^"]*/, '$1…').trim()
  expect(withoutToken(claim.said)).toBe(claim.shown)
  const [, name = '', value = ''] = /^ {2}(\S+)\. 300 IN TXT "([^"]+)"$/m.exec(claim.said) ?? []
  const changes = [textRecord(name, value, 300)]
  await server().update({ zone: CLAIMED, prerequisites: [], changes })
  const { command, printed } = page.take('spout domain check')
  // A check of the control plane's own may be under way.
  const said = await waitFor(
    async () => {
      const { code, stdout, stderr } = await asTenant(command)
      if (code !== 0 && !stderr.includes('Too many requests')) throw new Error(stderr)
      return code === 0 && stdout
    },
    { what: 'a check of the domain', timeoutMs: 60_000 },
  )
  expect(said.trim()).toBe(printed.join('\n'))
})

it('nothing of the page is left to type', () => {
  expect(page.left).toEqual([])
})
