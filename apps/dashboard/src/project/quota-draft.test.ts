import { classLimits, DEFAULT_QUOTA, QUOTA_RESOURCES, quotaLimits } from '@spout/model'
import { expect, it } from 'vitest'
import { classRows } from './class-rows.ts'
import { limitError, limitFields, quotaChange, textOf } from './quota-draft.ts'
import { quotaRows } from './quota-rows.ts'

const [GOLD, SILVER] = ['7f1b4c1e-0000-4000-8000-000000000001', '7f1b4c1e-0000-4000-8000-000000000002']
const QUOTA = {
  ...{ limits: DEFAULT_QUOTA, used: DEFAULT_QUOTA },
  classes: [
    { id: GOLD, name: 'gold', limit: 5, used: 1 },
    { id: SILVER, name: 'silver', limit: null, used: 2 },
  ],
}
const FIELDS = limitFields(QUOTA, quotaRows(QUOTA), classRows(QUOTA.classes, [], 'p'))
const field = (part: string, name: string) => FIELDS.find((one) => one.part === part && one.name === name)!
const LIMITS = ['0', '5', '1000000', '1000001', '1099511627776', '1099511627777', '-1', '1.5', 'x', ' 5 ']

it('only what was changed is sent', () => {
  const typed = { 'limits.pools': '7', 'limits.members': String(DEFAULT_QUOTA.members), 'limits.listeners': ' 8 ' }
  expect(quotaChange(FIELDS, typed)).toEqual({ limits: { pools: 7, listeners: 8 }, classes: {} })
  expect(quotaChange(FIELDS, { 'limits.pools': 'many' })).toBeNull()
})

it('a limit is right where the schema of the API says so', () => {
  const isRight = (part: string, name: string, text: string) =>
    limitError(field(part, name), { [`${part}.${name}`]: text }) === null
  for (const text of LIMITS) {
    for (const resource of QUOTA_RESOURCES)
      expect([resource, text, isRight('limits', resource, text)]).toEqual([
        ...[resource, text],
        quotaLimits.shape[resource].safeParse(Number(text)).success,
      ])
    expect([text, isRight('classes', GOLD, text)]).toEqual([
      text,
      classLimits.valueType.safeParse(Number(text)).success,
    ])
  }
})

it('a class may have no limit of its own, a resource must have one', () => {
  expect(limitError(field('limits', 'pools'), { 'limits.pools': '' })).toContain('must be a whole number')
  expect(limitError(field('classes', GOLD), { [`classes.${GOLD}`]: ' ' })).toBeNull()
  expect([textOf(field('classes', GOLD), {}), textOf(field('classes', SILVER), {})]).toEqual(['5', ''])
})

it('the limit of a class is set, changed to none at all, and taken away', () => {
  const change = (gold: string, silver: string) =>
    quotaChange(FIELDS, { [`classes.${GOLD}`]: gold, [`classes.${SILVER}`]: silver })
  expect(change('', '3')).toEqual({ limits: {}, classes: { [GOLD]: null, [SILVER]: 3 } })
  expect(change('0', '')).toEqual({ limits: {}, classes: { [GOLD]: 0 } })
  expect(change('5', ' ')).toBeNull()
})

it('a class that somebody deleted meanwhile is not sent', () => {
  const left = limitFields(QUOTA, quotaRows(QUOTA), [])
  expect(quotaChange(left, { [`classes.${GOLD}`]: '9', 'limits.pools': '7' })).toEqual({
    limits: { pools: 7 },
    classes: {},
  })
})
