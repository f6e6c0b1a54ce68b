import { DEFAULT_QUOTA, QUOTA_RESOURCES, quotaLimits } from '@spout/model'
import { expect, it } from 'vitest'
import { changedLimits, limitError } from './quota-draft.ts'

it('only what was changed is sent', () => {
  expect(
    changedLimits({ pools: '7', members: String(DEFAULT_QUOTA.members), listeners: ' 8 ' }, DEFAULT_QUOTA),
  ).toEqual({
    pools: 7,
    listeners: 8,
  })
  expect(changedLimits({ pools: 'many' }, DEFAULT_QUOTA)).toEqual({})
})

it('a limit is right where the schema of the API says so', () => {
  for (const resource of QUOTA_RESOURCES)
    for (const text of ['0', '5', '1000000', '1000001', '1099511627776', '1099511627777', '-1', '1.5', '', 'x'])
      expect([resource, text, limitError(resource, text) === null]).toEqual([
        ...[resource, text],
        text !== '' && quotaLimits.shape[resource].safeParse(Number(text)).success,
      ])
})
