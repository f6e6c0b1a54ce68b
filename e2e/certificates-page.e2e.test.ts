import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  environmentOf,
  type Issued,
  issueCertificate,
  PRODUCT_ENVIRONMENT,
  pageShell,
  revocationList,
  type Tenant,
  TestSystem,
  TypedPage,
  unpackedPackages,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME } from './fixtures.ts'

/** What docs/certificates.md says to type, typed. */

interface ShownCertificate {
  readonly id: string
  readonly name: string
  readonly use: string
  readonly fingerprint: string
  readonly notAfter: string | null
}

const PROGRAM = bundled(path.join(import.meta.dirname, '../apps/cli/src/main.ts'))

/** The first start in a checkout downloads packages and makes bundles. */
const START_MS = 300_000

let system: TestSystem
let acme: Tenant
let page: TypedPage

const write = (name: string, text: string): void => writeFileSync(path.join(system.lab.directory, name), text)
const writePair = (name: string, { certificate, key }: Issued): void => {
  write(`${name}.crt`, certificate)
  write(`${name}.key`, key)
}
const certificates = async () =>
  (await system.api<{ items: readonly ShownCertificate[] }>(acme, 'GET', '/certificates')).items
const named = async (name: string) => (await certificates()).find((one) => one.name === name)

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], nodes: ['node1'] })
  acme = system.tenants[0]!
  const { lab, access } = system
  const debian = await unpackedPackages('apache2-utils', ['apache2-utils'])
  const libraries = `LD_LIBRARY_PATH=${environmentOf(debian)['LD_LIBRARY_PATH']}`
  const shell = pageShell({
    ...{ directory: lab.directory, lab },
    programs: {
      spout: [process.execPath, PROGRAM],
      htpasswd: ['env', libraries, path.join(debian, 'usr/bin/htpasswd')],
    },
    env: { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: acme.token },
  })
  page = new TypedPage('certificates.md', shell)
}, START_MS)
afterAll(() => system?.destroy())

it('a certificate is stored, shown, replaced under its id, and deleted', async () => {
  writePair('web', issueCertificate({ names: ['web.example.org'] }))
  writePair('new', issueCertificate({ names: ['web.example.org', 'new.example.org'] }))
  await page.type('spout certificate create web')
  const before = await named('web')
  expect((await page.type('spout certificate list')).said).toMatch(/^web +web\.example\.org +keyed +valid /m)
  const { said } = await page.type('spout certificate show web')
  expect(said).toContain(before!.fingerprint)
  expect(said).not.toContain('PRIVATE KEY')
  await page.type('spout certificate set web')
  const after = await named('web')
  expect([after!.id, after!.fingerprint === before!.fingerprint]).toEqual([before!.id, false])
  await page.type('spout certificate delete web')
  expect(await certificates()).toEqual([])
})

it('authorities are stored without a key, and have no other use', async () => {
  write('ca.crt', issueCertificate({ isAuthority: true }).certificate)
  await page.type('spout certificate create inner-ca')
  expect(await named('inner-ca')).toMatchObject({ use: 'authorities' })
})

it('a listener looks its clients up in the list of its authority, and in the one that replaces it', async () => {
  const authority = issueCertificate({ isAuthority: true })
  const [client, revoked] = [issueCertificate({ issuer: authority }), issueCertificate({ issuer: authority })]
  const { lab, access } = system
  write('authority.crt', authority.certificate)
  write('staff.crl', revocationList(authority, { revoked: [revoked] }))
  write('new.crl', revocationList(authority, { revoked: [revoked, client] }))
  writePair('client', client)
  writePair('revoked', revoked)
  writePair('shop', issueCertificate({ names: ['shop.example.org'] }))
  // Other pages have said how to make these.
  const asTenant = pageShell({
    ...{ directory: lab.directory, lab, programs: {} },
    env: { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: acme.token },
  })
  for (const command of [
    'spout certificate create staff-ca --chain authority.crt',
    'spout certificate create shop --chain shop.crt --key shop.key',
    'spout lb create shop --pool public',
    'spout pool create shop web --protocol http',
    'spout member create shop web one --address 10.0.0.11 --port 8080',
    'spout listener create shop secure --protocol https --port 443 --default-pool web --certificates shop',
  ])
    expect(await asTenant(command), command).toMatchObject({ code: 0 })
  await page.type('spout certificate create staff-revoked')
  await page.type('spout listener set shop secure')
  const { items } = await system.api<{ items: readonly { id: string }[] }>(acme, 'GET', '/load-balancers')
  const { vips } = await system.active(acme, items[0]!.id)
  const lets = (name: string) => async (): Promise<boolean> => {
    const pair = ['--cert', `${lab.directory}/${name}.crt`, '--key', `${lab.directory}/${name}.key`]
    const argv = ['curl', '-sk', '--max-time', '5', '-o', '/dev/null', ...pair, `https://${vips[0]!.address}/`]
    return (await lab.run('client', argv)).code === 0
  }
  await expect.poll(lets('client'), { timeout: 60_000 }).toBe(true)
  expect(await lets('revoked')()).toBe(false)
  await page.type('spout certificate set staff-revoked')
  await expect.poll(lets('client'), { timeout: 60_000 }).toBe(false)
})

it('a file of users is made by htpasswd, stored, and stored again', async () => {
  await page.type('htpasswd', 'open sesame\nopen sesame\n')
  await page.type('spout certificate create staff')
  const before = await named('staff')
  expect(before).toMatchObject({ use: 'users' })
  await page.type('spout certificate set staff')
  // It has the same content.
  expect(await named('staff')).toMatchObject({ id: before!.id, fingerprint: before!.fingerprint })
})

it('nothing of the page is left to type', () => {
  expect(page.left).toEqual([])
})
