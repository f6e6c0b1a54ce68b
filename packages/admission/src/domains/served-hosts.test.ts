import type { Listener, RouteCondition, SpoutError } from '@spout/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOST_RULES, type HostRule } from '../claims/host-rule.ts'
import { draftOf, listenerOf, type Office, openOffice, refusal } from '../testing/office.ts'

const offices: Office[] = []
const byRule = new Map<HostRule, Office>()
beforeAll(async () => {
  for (const rule of HOST_RULES) byRule.set(rule, await open(rule))
})
afterAll(async () => {
  for (const office of offices) await office.close()
})

/** `own` has www.own.example and all below apps.example, `stranger` has other.example and all below it. */
async function open(hosts?: HostRule): Promise<Office> {
  const office = await openOffice(hosts === undefined ? {} : { hosts })
  offices.push(office)
  const { admission, project, stranger } = office
  await admission.changeProject(project.id, { domains: ['www.own.example', '*.apps.example'] })
  await admission.changeProject(stranger.id, { domains: ['other.example', '*.other.example', 'x.apps.example'] })
  return office
}

const id = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
const host = (compare: string, ...values: string[]) => ({ on: 'host', compare, values, not: false }) as RouteCondition
const listener = (...conditions: readonly RouteCondition[]): Listener =>
  listenerOf(id(1), 80, {
    protocol: 'http',
    routes: conditions.map((condition, at) => ({
      ...{ id: id(100 + at), name: '', description: '', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
      ...{ tags: [], enabled: true, conditions: [condition], action: { type: 'respond', code: 404 } },
    })),
  })
const create = ({ admission, project, pool }: Office, ...conditions: readonly RouteCondition[]) =>
  admission.createLoadBalancer(
    draftOf(project.id, [{ from: 'pool', poolId: pool.id, address: null }], { listeners: [listener(...conditions)] }),
  )
const FIRST = 'listeners[0].routes[0].conditions[0].values[0]'
const FOREIGN = 'a domain of another project covers it'
const PARTLY = 'a domain of another project is among the names below it'
const NOBODYS = 'no domain of the project covers it'
const UNTOLD = 'which hosts it stands for cannot be told'

test.each<readonly [RouteCondition, unclaimed: string | null, own: string | null]>([
  [host('exact', 'www.own.example'), null, null],
  [host('exact', 'a.b.apps.example'), null, null],
  [host('any-labels', 'apps.example'), null, null],
  [host('exact', 'nobody.example'), null, NOBODYS],
  [host('one-label', 'nobody.example'), null, NOBODYS],
  [host('exact', 'other.example'), FOREIGN, FOREIGN],
  [host('exact', 'shop.other.example'), FOREIGN, FOREIGN],
  [host('one-label', 'shop.other.example'), FOREIGN, FOREIGN],
  [host('exact', 'x.apps.example'), FOREIGN, FOREIGN],
  [host('any-labels', 'example'), PARTLY, PARTLY],
  [host('one-label', 'example'), PARTLY, PARTLY],
  [host('ends-with', '.other.example'), FOREIGN, FOREIGN],
  [host('ends-with', 'other.example'), FOREIGN, FOREIGN],
  [host('ends-with', '.apps.example'), null, null],
  [host('ends-with', 'apps.example'), null, UNTOLD],
  [host('prefix', 'other.example'), FOREIGN, FOREIGN],
  [host('contains', 'shop'), null, UNTOLD],
  [host('regex', 'shop.*'), null, UNTOLD],
  [{ ...host('exact', 'other.example'), not: true } as RouteCondition, null, null],
  [{ on: 'path', compare: 'exact', values: ['/'], not: false }, null, null],
])('who may name a host: %j', async (condition, unclaimed, own) => {
  for (const [rule, reason] of [['unclaimed', unclaimed] as const, ['own', own] as const, ['any', null] as const]) {
    const office = byRule.get(rule)!
    if (reason === null) {
      const made = await create(office, condition)
      expect(made.listeners[0]?.routes).toHaveLength(1)
      await office.admission.deleteLoadBalancer(made.id, { cascade: true })
      continue
    }
    const before = office.holdings()
    const error = await refusal(create(office, condition))
    expect(error).toMatchObject({ code: 'HostNotAllowed', field: FIRST, fields: [FIRST] })
    expect(error.message).toContain(`: ${reason}`)
    expect(office.holdings()).toEqual(before)
  }
})

test('one refusal names all hosts with its reason', async () => {
  const office = await open()
  const hosts = ['nobody.example', 'a.other.example', 'www.own.example', 'b.other.example']
  const error = await refusal(create(office, host('exact', ...hosts), host('exact', 'c.other.example')))
  expect(error.message).toBe(
    'Field listeners[0].routes[0].conditions[0].values[1]: routes of this project may not name a.other.example: a domain of another project covers it',
  )
  expect(error.fields).toEqual([
    'listeners[0].routes[0].conditions[0].values[1]',
    'listeners[0].routes[0].conditions[0].values[3]',
    'listeners[0].routes[1].conditions[0].values[0]',
  ])
})

test('nothing is asked for where nobody has domains', async () => {
  const office = await openOffice()
  offices.push(office)
  expect((await create(office, host('exact', 'any.example'))).listeners).toHaveLength(1)
})

test('what was served before a domain was given stays, and nothing is added to it anew', async () => {
  const office = await open()
  const { admission, stranger } = office
  const { id: made } = await create(office, host('exact', 'late.example'))
  await admission.changeProject(stranger.id, { domains: ['late.example', '*.late.example'] })
  const say = (...conditions: readonly RouteCondition[]) =>
    admission.changeLoadBalancer(made, () => ({ listeners: [listener(...conditions)] }))
  await say(host('exact', 'late.example'), host('exact', 'more.example'))
  expect((await refusal(say(host('exact', 'a.late.example')))).code).toBe('HostNotAllowed')
  await say(host('exact', 'more.example'))
  const again: SpoutError = await refusal(say(host('exact', 'late.example')))
  expect(again.code).toBe('HostNotAllowed')
  await admission.changeProject(stranger.id, { domains: [] })
  await say(host('exact', 'late.example'))
})
