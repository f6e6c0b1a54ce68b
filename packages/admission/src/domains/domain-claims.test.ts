import type { DomainClaim } from '@spout/model'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainFinding } from '../contract/domain-admission.ts'
import { draftOf, type Office, openOffice, refusal } from '../testing/office.ts'

const GRACE_MS = 60_000
const PRESENT: DomainFinding = { record: 'present' }
const ABSENT: DomainFinding = { record: 'absent' }

let office: Office
beforeEach(async () => {
  office = await openOffice({ hosts: 'own' })
})
afterEach(() => office.close())

const claim = (domain: string, projectId = office.project.id) => office.admission.claimDomain({ projectId, domain })
const conclude = ({ id }: DomainClaim, finding: DomainFinding) =>
  office.admission.concludeDomainCheck(id, finding, GRACE_MS)
const proven = async (domain: string, projectId?: string) => conclude(await claim(domain, projectId), PRESENT)
const domainsIn = (id = office.project.id) => office.view.get('project', id)?.value.provenDomains
const named = (dnsNames: readonly string[], projectId = office.project.id) =>
  office.admission.createLoadBalancer(
    draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }], { dnsNames }),
  )

test("a claim gives nothing until its record is found; then the domain is the project's", async () => {
  const made = await claim('Shop.Example.')
  expect(made).toMatchObject({ name: 'shop.example', domain: 'shop.example', state: 'pending', reason: 'NotChecked' })
  expect((await refusal(named(['shop.example']))).message).toMatch(/no domain of the project covers shop.example$/)
  expect(await conclude(made, ABSENT)).toMatchObject({
    ...{ state: 'pending', reason: 'NoRecord' },
    message: 'There is no such TXT record at _spout-challenge.shop.example.',
  })
  expect(await conclude(made, { record: 'other' })).toMatchObject({ state: 'pending', reason: 'OtherRecord' })
  expect(domainsIn()).toBeUndefined()
  expect(await conclude(made, PRESENT)).toMatchObject({ state: 'proven', reason: 'Proven' })
  expect(domainsIn()).toEqual(['shop.example'])
  expect((await named(['shop.example'])).dnsNames).toEqual(['shop.example'])
})

test('a check that finds what the last one found writes nothing', async () => {
  const made = await proven('shop.example')
  const revision = await office.store.revision()
  expect(await conclude(made, PRESENT)).toEqual(made)
  expect(await office.store.revision()).toBe(revision)
})

test('a record that is gone takes the domain away after the grace, and gives it back when it returns', async () => {
  const made = await proven('*.shop.example')
  const missing = await conclude(made, ABSENT)
  expect(missing).toMatchObject({ state: 'missing', reason: 'NoRecord' })
  expect(missing.message).toBe(
    'There is no such TXT record at _spout-challenge.shop.example; the domain is lost at 2026-01-01T00:01:00.000Z.',
  )
  office.later(GRACE_MS - 1)
  expect((await conclude(made, ABSENT)).since).toBe(missing.since)
  expect(domainsIn()).toEqual(['*.shop.example'])
  office.later(1)
  expect(await conclude(made, ABSENT)).toMatchObject({ state: 'lost', reason: 'NoRecord' })
  expect(domainsIn()).toBeUndefined()
  expect(await conclude(made, PRESENT)).toMatchObject({ state: 'proven' })
  expect(domainsIn()).toEqual(['*.shop.example'])
})

test('a resolver that does not answer takes nothing away, however long', async () => {
  const made = await proven('shop.example')
  const silent: DomainFinding = { record: 'unknown', why: 'the resolvers did not answer in time' }
  expect(await conclude(made, silent)).toMatchObject({ state: 'proven', reason: 'NameServer' })
  await conclude(made, ABSENT)
  office.later(10 * GRACE_MS)
  expect(await conclude(made, silent)).toMatchObject({ state: 'missing' })
  expect(domainsIn()).toEqual(['shop.example'])
})

test.each([
  ['the same', 'shop.example', 'shop.example', false],
  ['the same wildcard', '*.shop.example', '*.shop.example', false],
  ['below a wildcard', '*.shop.example', 'a.b.shop.example', false],
  ['a wildcard below a wildcard', '*.shop.example', '*.b.shop.example', false],
  ['a wildcard above', 'a.shop.example', '*.shop.example', true],
  ['the name of a wildcard', '*.shop.example', 'shop.example', true],
  ['a neighbour', 'a.shop.example', 'b.shop.example', true],
])('another project with a domain, given or proven, keeps it: %s', async (_, theirs, ours, may) => {
  const { admission, stranger } = office
  const expected = may ? { state: 'proven' } : { state: 'pending', reason: 'Conflict' }
  const given = await claim(ours)
  await admission.changeProject(stranger.id, { domains: [theirs] })
  expect(await conclude(given, PRESENT)).toMatchObject(expected)
  await admission.changeProject(stranger.id, { domains: [] })
  await admission.withdrawDomainClaim(given.id)
  const first = await proven(theirs, stranger.id)
  const second = await claim(ours)
  expect(await conclude(second, PRESENT)).toMatchObject(expected)
  expect(await conclude(first, PRESENT)).toMatchObject({ state: 'proven' })
  // The domain is free again once its record is gone.
  await conclude(first, ABSENT)
  office.later(GRACE_MS)
  await conclude(first, ABSENT)
  expect(await conclude(second, PRESENT)).toMatchObject({ state: 'proven' })
})

test('a domain that the administrator gives to somebody else is lost in the same commit, and can be proven no more', async () => {
  const { admission, stranger } = office
  const [kept, lost] = [await proven('other.example'), await proven('a.shop.example')]
  await admission.changeProject(stranger.id, { domains: ['*.shop.example'] })
  const now = (id: string) => office.view.get('domainClaim', id)?.value
  expect(now(lost.id)).toMatchObject({ state: 'lost', reason: 'Conflict' })
  expect(now(kept.id)).toMatchObject({ state: 'proven' })
  expect(domainsIn()).toEqual(['other.example'])
  expect(await conclude(lost, PRESENT)).toMatchObject({ state: 'lost', reason: 'Conflict' })
})

test('a name of a lost domain may be taken by the project that has the domain now', async () => {
  const { admission, stranger } = office
  await proven('shop.example')
  await named(['shop.example'])
  expect((await refusal(named(['shop.example'], stranger.id))).message).toMatch(/no domain of the project/)
  await admission.changeProject(stranger.id, { domains: ['shop.example'] })
  expect((await named(['shop.example'], stranger.id)).dnsNames).toEqual(['shop.example'])
})

test('a claim is withdrawn with its domain, unless a name needs it', async () => {
  const { admission } = office
  const made = await proven('shop.example')
  const { id } = await named(['shop.example'])
  expect((await refusal(admission.withdrawDomainClaim(made.id))).code).toBe('InUse')
  await admission.changeLoadBalancer(id, () => ({ dnsNames: [] }))
  await admission.withdrawDomainClaim(made.id)
  expect([domainsIn(), office.view.get('domainClaim', made.id)]).toEqual([undefined, null])
})

test.each([
  ['shop', /^Field domain: has no dot/],
  ['10.0.0.1', /^Field domain: ends in a number/],
  ['a b.example', /^Field domain: has a part that is not/],
  ['_acme-challenge.shop.example', /^Field domain: has a part that is not/],
  ['*.*.example', /^Field domain: has a part that is not/],
  [`${'a.'.repeat(118)}example`, /^Field domain: is longer than 236 characters/],
])('no domain: %s', async (domain, message) => {
  expect((await refusal(claim(domain))).message).toMatch(message)
  expect(office.view.list('domainClaim')).toEqual([])
})

test('a project has a claim of a domain once, at most 100 of them, and loses them when it goes', async () => {
  const { admission, stranger } = office
  await claim('shop.example', stranger.id)
  expect((await refusal(claim('shop.example', stranger.id))).code).toBe('NameTaken')
  for (let at = 1; at < 100; at++) await claim(`d${at}.example`, stranger.id)
  expect((await refusal(claim('more.example', stranger.id))).message).toMatch(
    /^Field domain: the project has 100 claims/,
  )
  await admission.deleteProject(stranger.id)
  expect(office.view.list('domainClaim')).toEqual([])
})
