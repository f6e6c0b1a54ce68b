import { expect, it } from 'vitest'
import { auditFilter, auditSearch } from './audit-filter.ts'

it('a filter is read back from the URL as it was written, whatever else is there', () => {
  const filter = { user: 'ann', object: '', project: '' }
  expect(auditSearch(filter)).toEqual({ user: 'ann' })
  expect(auditFilter(auditSearch(filter))).toEqual(filter)
  expect(auditFilter({ user: 7, object: ['a'], other: 'x' })).toEqual({ user: '7', object: '', project: '' })
})
