import { NameServer, textRecord } from '@spout/dns'
import {
  type Account,
  createTenant,
  Lab,
  type SystemAccess,
  startControlPlane,
  type Tenant,
  waitFor,
} from '@spout/testkit'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoutAs } from '../../testing/installed-spout.ts'

// A real control plane that asks a real BIND, and the command as people run it.
const ZONE = 'tenants.example.org'
const DOMAIN = `shop.${ZONE}`

let bind: TestNameServer
let lab: Lab
let access: SystemAccess
let acme: Tenant
let bolt: Tenant

beforeAll(async () => {
  bind = await TestNameServer.start([{ name: ZONE }])
  lab = await Lab.create()
  const resolvers = JSON.stringify([`${bind.host}:${bind.port}`])
  access = await startControlPlane(lab, {
    set: [`domains.resolvers=${resolvers}`, 'domains.hosts=own', 'domains.checksPerMinute=6000'],
  })
  const spec = { password: 'in-the-lab-of-tests', returnPath: 'snat' } as const
  acme = await createTenant(access, { ...spec, project: 'acme', user: 'alice', segment: 'tenant-a' })
  bolt = await createTenant(access, { ...spec, project: 'bolt', user: 'bob', segment: 'tenant-b' })
  await spout(access.admin, 'address-pool create public --ranges 198.51.100.16-198.51.100.250 --cidr 198.51.100.0/24')
})
afterAll(async () => {
  await lab?.destroy()
  await bind?.stop()
})

const spout = (who: Pick<Account, 'token'>, words: string) => spoutAs(access, who.token, words.split(' '))
/** Checks the domain, again and again while the tenant's rate refuses it. */
const checked = (who: Tenant) =>
  waitFor(
    async () => {
      const { code, stdout, stderr } = await spout(who, `domain check ${DOMAIN}`)
      if (code !== 0 && !stderr.includes('Too many requests')) throw new Error(stderr)
      return code === 0 && stdout
    },
    { what: 'a check of the domain' },
  )
/** Publishes the record of a claim. @param printed the output of `spout domain claim` */
async function publish(printed: string): Promise<void> {
  const [, name, value] = /^ {2}(\S+)\. 300 IN TXT "([^"]+)"$/m.exec(printed) ?? []
  const { name: keyName, algorithm, secret } = bind.keys[0]!
  const key = { name: keyName, algorithm, secret: Buffer.from(secret, 'base64') }
  const changes = [textRecord(name ?? '', value ?? '', 1)]
  await new NameServer({ host: bind.host, port: bind.port, key }).update({ zone: ZONE, prerequisites: [], changes })
}

test('a tenant claims a domain, publishes its record, and has the domain; another one has not', async () => {
  const refused = await spout(acme, `lb create early --dns-names ${DOMAIN}`)
  expect(refused.stderr).toContain(`no domain of the project covers ${DOMAIN}`)

  const claim = await spout(acme, `domain claim ${DOMAIN}`)
  expect(claim).toMatchObject({ code: 0, stderr: '' })
  expect(claim.stdout).toContain(`_spout-challenge.${DOMAIN}. 300 IN TXT "spout-domain-verification=`)
  expect(await checked(acme)).toBe(
    `${DOMAIN} is pending (NoRecord): There is no such TXT record at _spout-challenge.${DOMAIN}.\n`,
  )
  await publish(claim.stdout)
  expect(await checked(acme)).toBe(
    `${DOMAIN} is proven (Proven): The record at _spout-challenge.${DOMAIN} was found.\n`,
  )
  expect(await spout(acme, `lb create shop --dns-names ${DOMAIN}`)).toMatchObject({ code: 0 })

  // Anybody can read the record in DNS and copy it. That gives no other project the domain.
  const theirs = await spout(bolt, `domain claim ${DOMAIN}`)
  expect(await checked(bolt)).toMatch(/is pending \(Conflict\): Another project has this domain/)
  await publish(theirs.stdout)
  expect(await checked(bolt)).toMatch(/is pending \(Conflict\)/)
  const taken = await spout(bolt, `lb create shop --dns-names ${DOMAIN}`)
  expect(taken.stderr).toContain(`no domain of the project covers ${DOMAIN}`)
})

test('what is shown of claims is of the own project, and the administrator sees which domains are proven', async () => {
  const list = async (who: Pick<Account, 'token'>) =>
    JSON.parse((await spout(who, 'domain list -o json')).stdout) as { projectId: string; state: string }[]
  expect((await list(acme)).map(({ projectId, state }) => [projectId, state])).toEqual([[acme.projectId, 'proven']])
  expect((await list(bolt)).map(({ projectId, state }) => [projectId, state])).toEqual([[bolt.projectId, 'pending']])
  expect(await list(access.admin)).toHaveLength(2)
  const project = JSON.parse((await spout(access.admin, 'project show acme -o json')).stdout)
  expect(project.provenDomains).toEqual([DOMAIN])
  const [mine] = await list(acme)
  const foreign = await spout(bolt, `domain delete ${(mine as { id?: string } | undefined)?.id}`)
  expect(foreign.stderr).toContain('not found')
})

test('a domain that a name needs cannot be withdrawn; then it can', async () => {
  expect((await spout(acme, `domain delete ${DOMAIN}`)).stderr).toContain('is in use by load balancer')
  expect(await spout(acme, 'lb delete shop')).toMatchObject({ code: 0 })
  expect(await spout(acme, `domain delete ${DOMAIN}`)).toMatchObject({ code: 0 })
  expect(await checked(bolt)).toMatch(/is proven/)
})

test.each([
  ['shop', /Field domain: has no dot/],
  ['a_b.example', /Field domain: has a part that is not/],
])('%s is refused with field and reason', async (name, message) => {
  expect((await spout(acme, `domain claim ${name}`)).stderr).toMatch(message)
})
