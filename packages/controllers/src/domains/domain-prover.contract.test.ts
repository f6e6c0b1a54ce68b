import { NameServer, removalOf, TextResolver, type TsigKey, textRecord } from '@spout/dns'
import { challengeNameOf, challengeValueOf, type DomainClaim } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { MemoryStore } from '@spout/store'
import { waitFor } from '@spout/testkit'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { DomainProver } from './domain-prover.ts'

const ZONE = 'tenants.example.org'
const RECHECK_MS = 3_600_000
const GRACE_MS = 7_200_000
const GAP_MS = 2000

let bind: TestNameServer
let plane: ControlPlane
let prover: DomainProver
let projectId: string
let other: string

beforeAll(async () => {
  bind = await TestNameServer.start([
    {
      name: ZONE,
      records: [
        '_spout-challenge.alias IN CNAME proofs',
        '_spout-challenge.other IN TXT "spout-domain-verification=of-somebody-else-entirely"',
        // More than a datagram holds.
        ...Array.from({ length: 60 }, (_, at) => `_spout-challenge.many IN TXT "${at} ${'x'.repeat(200)}"`),
        '_spout-challenge.address IN CNAME ns',
      ],
    },
  ])
})
afterAll(() => bind.stop())
beforeEach(async () => {
  plane = await ControlPlane.start(new MemoryStore())
  projectId = (await plane.admission.createProject({ name: 'shop', description: '' })).id
  other = (await plane.admission.createProject({ name: 'other', description: '' })).id
  prover = new DomainProver({
    ...{ view: plane.view, admission: plane.admission, clock: plane.clock, log: silentLogger() },
    resolver: new TextResolver({ servers: [`${bind.host}:${bind.port}`] }),
    ...{ recheckMs: RECHECK_MS, graceMs: GRACE_MS, gapMs: GAP_MS },
  })
  prover.start()
})
afterEach(async () => {
  await prover.stop()
  await plane.stop()
})

function update(changes: Parameters<NameServer['update']>[0]['changes']) {
  const { name, algorithm, secret } = bind.keys[0]!
  const key: TsigKey = { name, algorithm, secret: Buffer.from(secret, 'base64') }
  return new NameServer({ host: bind.host, port: bind.port, key }).update({ zone: ZONE, prerequisites: [], changes })
}
const proofOf = (claim: DomainClaim, name = challengeNameOf(claim.domain)) =>
  textRecord(name, challengeValueOf(claim), 60)
const publish = (claim: DomainClaim, name?: string) => update([proofOf(claim, name)])
const withdraw = (claim: DomainClaim) => update([removalOf(proofOf(claim))])
const claimed = (label: string, owner = projectId) =>
  plane.admission.claimDomain({ projectId: owner, domain: `${label}.${ZONE}` })
const now = (id: string) => plane.view.get('domainClaim', id)?.value
/** Waits until the claim is as expected. @param passMs advances the prover's clock by this in each round */
const comesTo = (id: string, expected: Partial<DomainClaim>, passMs = 0) =>
  waitFor(
    async () => {
      if (passMs > 0) await plane.clock.advance(passMs)
      else await plane.clock.advance(0)
      const claim = now(id)
      return Object.entries(expected).every(([key, value]) => claim?.[key as keyof DomainClaim] === value) && claim
    },
    { what: `the claim to be ${JSON.stringify(expected)}` },
  )

test('a claim is proven by its record, keeps the domain for a time without it, and loses it then', async () => {
  const claim = await claimed('shop')
  await comesTo(claim.id, { state: 'pending', reason: 'NoRecord' })
  await publish(claim)
  await comesTo(claim.id, { state: 'proven', reason: 'Proven' }, GAP_MS)
  expect(plane.view.get('project', projectId)?.value.provenDomains).toEqual([`shop.${ZONE}`])

  await withdraw(claim)
  const missing = await comesTo(claim.id, { state: 'missing' }, RECHECK_MS)
  expect(missing.message).toContain('the domain is lost at')
  expect(plane.view.get('project', projectId)?.value.provenDomains).toEqual([`shop.${ZONE}`])
  await comesTo(claim.id, { state: 'lost', reason: 'NoRecord' }, GRACE_MS / 8)
  expect(plane.view.get('project', projectId)?.value.provenDomains).toBeUndefined()
})

test('a wildcard is proven below its own name, an alias leads on, and among many records one counts', async () => {
  const wildcard = await claimed('*.wild')
  expect(challengeNameOf(wildcard.domain)).toBe(`_spout-challenge.wild.${ZONE}`)
  const [alias, many] = [await claimed('alias'), await claimed('many')]
  await publish(wildcard)
  await publish(alias, `proofs.${ZONE}`)
  await publish(many)
  for (const { id } of [wildcard, alias, many]) await comesTo(id, { state: 'proven' }, GAP_MS)
})

test('a record of another claim, and other records at the name, prove nothing', async () => {
  const [theirs, address] = [await claimed('other'), await claimed('address')]
  await comesTo(theirs.id, { state: 'pending', reason: 'OtherRecord' }, GAP_MS)
  await comesTo(address.id, { state: 'pending', reason: 'NoRecord' }, GAP_MS)
  const outside = await plane.admission.claimDomain({ projectId, domain: 'elsewhere.example.com' })
  const refused = await comesTo(outside.id, { state: 'pending', reason: 'NameServer' }, GAP_MS)
  expect(refused.message).toMatch(/the resolvers refuse the question \(REFUSED\)/)
})

test('while no resolver answers, nothing is lost', async () => {
  const claim = await claimed('silent')
  await publish(claim)
  await comesTo(claim.id, { state: 'proven' }, GAP_MS)
  await bind.pause()
  try {
    const unknown = await comesTo(claim.id, { state: 'proven', reason: 'NameServer' }, GRACE_MS / 2)
    expect(unknown.message).toMatch(/^The record at _spout-challenge\.silent/)
  } finally {
    await bind.resume()
  }
  await comesTo(claim.id, { state: 'proven', reason: 'Proven' }, GAP_MS)
})

test('a tenant may ask at once, but not faster than its rate, and holds up nobody else', async () => {
  const claim = await claimed('asked')
  await comesTo(claim.id, { reason: 'NoRecord' })
  await expect(prover.check(claim.id)).rejects.toMatchObject({ code: 'TooManyRequests' })
  await plane.clock.advance(GAP_MS)
  await publish(claim)
  expect(await prover.check(claim.id)).toMatchObject({ state: 'proven' })
  for (let at = 0; at < 20; at++) await claimed(`asked-${at}`)
  const theirs = await claimed('theirs', other)
  await publish(theirs)
  await comesTo(theirs.id, { state: 'proven' })
  // Claims of the first project still wait for their turns.
  expect(plane.view.list('domainClaim', { projectId }).filter(({ reason }) => reason === 'NotChecked')).not.toEqual([])
})

test('a claim that is withdrawn while it is looked for stays withdrawn', async () => {
  const claim = await claimed('gone')
  await plane.clock.advance(GAP_MS)
  const check = prover.check(claim.id)
  await plane.admission.withdrawDomainClaim(claim.id)
  await check.catch(() => {})
  await plane.clock.advance(RECHECK_MS)
  expect(now(claim.id)).toBeUndefined()
})
