import type { RouteCondition } from '@spout/model'
import { expect, it } from 'vitest'
import { conditionsText, conditionText } from './condition-text.ts'

it('says a condition as people do', () => {
  const rows: readonly (readonly [RouteCondition, string])[] = [
    [{ on: 'host', compare: 'exact', values: ['a.test', 'b.test'], not: false }, 'host is a.test or b.test'],
    [{ on: 'host', compare: 'any-labels', values: ['a.test'], not: true }, 'host is not below a.test'],
    [{ on: 'path', compare: 'elements', values: ['/cart'], not: false }, 'path is under /cart'],
    [{ on: 'method', values: ['GET'], not: true }, 'method is not GET'],
    [{ on: 'header', name: 'x-beta', compare: 'contains', values: ['1'], not: false }, 'header x-beta contains 1'],
    [{ on: 'source', values: ['10.0.0.0/8'], not: false }, 'source is in 10.0.0.0/8'],
    [{ on: 'client-name', name: 'CN', compare: 'regex', values: ['^a'], not: false }, 'client name CN matches ^a'],
    [{ on: 'client-certificate', values: ['absent'], not: false }, 'client certificate is absent'],
  ]
  for (const [condition, text] of rows) expect(conditionText(condition)).toBe(text)
  expect(conditionsText([])).toBe('every request')
  expect(conditionsText(rows.slice(2, 4).map(([condition]) => condition))).toBe(
    'path is under /cart and method is not GET',
  )
})
