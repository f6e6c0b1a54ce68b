import { DEFAULT_QUOTA, type QuotaLimits } from '@spout/model'
import { expect, it } from 'vitest'
import { fullest, quotaRows } from './quota-rows.ts'

const NONE = Object.fromEntries(Object.keys(DEFAULT_QUOTA).map((name) => [name, 0])) as QuotaLimits

it('a quota has a bar for each resource, with figures as people read them', () => {
  const used = { ...NONE, members: 4_500, loadBalancers: 100, bytes: 1_500_000 }
  const rows = quotaRows({ limits: { ...DEFAULT_QUOTA, routes: 0 }, used })
  expect(rows.map(({ resource }) => resource).toSorted()).toEqual(Object.keys(DEFAULT_QUOTA).toSorted())
  const row = (name: string) => rows.find(({ resource }) => resource === name)
  expect(row('members')).toMatchObject({ title: 'Members', percent: 90, level: 'warn', text: '4,500 of 5,000' })
  expect(row('loadBalancers')).toMatchObject({ percent: 100, level: 'bad' })
  expect(row('routes')).toMatchObject({ percent: 0, level: 'ok', text: '0 of 0' })
  expect(row('bytes')?.text).toBe('1.4 MiB of 18 MiB')
  expect(fullest(rows)?.resource).toBe('loadBalancers')
})

it('a limit that was lowered below what is used is full, not more', () => {
  const [first] = quotaRows({ limits: { ...DEFAULT_QUOTA, loadBalancers: 0 }, used: { ...NONE, loadBalancers: 3 } })
  expect(first).toMatchObject({ percent: 100, level: 'bad', text: '3 of 0' })
})
