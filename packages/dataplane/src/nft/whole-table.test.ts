import { expect, it } from 'vitest'
import { chain, wholeTable, withoutTable } from './whole-table.ts'

const body = chain('input', 'type filter hook input priority 0; policy accept;', ['drop'])

it('is text that replaces whatever is there, with its mark in it', () => {
  const { family, name, mark, text } = wholeTable('inet', 'one', body)
  expect({ family, name }).toEqual({ family: 'inet', name: 'one' })
  expect(mark).toMatch(/^[0-9a-f]{32}$/)
  expect(text).toBe(`add table inet one
delete table inet one
table inet one {
  comment "${mark}"
  chain input {
    type filter hook input priority 0; policy accept;
    drop
  }
}
`)
  expect(withoutTable('inet', 'one')).toBe('add table inet one\ndelete table inet one\n')
})

it('has another mark for another body, and for other interfaces', () => {
  const marks = [
    wholeTable('netdev', 'one', body),
    wholeTable('netdev', 'one', chain('input', null, ['drop'])),
    wholeTable('netdev', 'one', body, 3),
    wholeTable('netdev', 'one', body, '2.3'),
  ].map(({ mark }) => mark)
  expect(new Set(marks).size).toBe(4)
  expect(wholeTable('netdev', 'two', body).mark).toBe(marks[0])
})
