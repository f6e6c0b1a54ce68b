import { expect, test } from 'vitest'
import { countingStamp } from '../testing/fixtures.ts'
import { nested, printObject, readObject, rowsOf } from './field.ts'
import { integer, list, nullable, text } from './wire-type.ts'

interface Draft {
  readonly name: string
  readonly size: number
  readonly note: string | null
  readonly parts: readonly Draft[]
}
const blank = (): Draft => ({ name: 'blank', size: 0, note: 'blank', parts: [] })
const row = rowsOf<Draft, Draft>()
const partFields = [
  row('size', integer(1), { since: 0, create: 'required', write: (draft, size) => ({ ...draft, size }) }),
]
const fields = [
  row('name', text({ max: 5 }), {
    since: 0,
    create: 'optional',
    update: true,
    default: '',
    write: (draft, name) => ({ ...draft, name }),
    read: ({ name }) => name,
  }),
  row('size', integer(1), {
    since: 0,
    create: 'required',
    update: true,
    write: (draft, size) => ({ ...draft, size }),
    read: ({ size }) => size,
  }),
  row('note', nullable(text()), {
    since: 3,
    create: 'optional',
    write: (draft, note) => ({ ...draft, note }),
    ifNull: null,
    read: ({ note }) => note,
  }),
  row('parts', list(nested(partFields, blank)), {
    since: 0,
    create: 'optional',
    write: (draft, parts) => ({ ...draft, parts }),
  }),
]
const at = { path: 'thing_.thing', stamp: countingStamp() }
const read = (mode: 'create' | 'update', json: unknown) => readObject(fields, mode, json, at)(blank())

test('a creation fills in defaults of omitted fields, and keeps the rest', () => {
  expect(read('create', { size: 2 })).toEqual({ name: '', size: 2, note: 'blank', parts: [] })
})

test('an update changes only the given fields', () => {
  expect(read('update', { size: 3 })).toEqual({ ...blank(), size: 3 })
})

test('null means the default, or the value in the row', () => {
  expect(read('create', { size: 2, name: null, note: null })).toMatchObject({ name: '', note: null })
})

const faults: readonly ['create' | 'update', unknown, string][] = [
  ['create', { size: 1, colour: 'red' }, 'Unknown attribute for argument thing_.thing: colour'],
  ['create', { size: 1, a: 1, b: 2 }, 'Unknown attributes for argument thing_.thing: a, b'],
  ['update', { note: 'x' }, 'Unknown attribute for argument thing_.thing: note'],
  ['create', JSON.parse('{"size":1,"__proto__":1}'), 'Unknown attribute for argument thing_.thing: __proto__'],
  ['create', { name: 'x' }, "Invalid input for field/attribute size. Value: 'None'. Mandatory field missing."],
  ['create', { size: null }, "Invalid input for field/attribute size. Value: 'None'. Mandatory field missing."],
  ['update', { size: null }, 'None is not a valid option for size'],
  ['create', { size: 0 }, "Invalid input for field/attribute size. Value: '0'. Value should be greater or equal to 1"],
  [
    'create',
    { size: 1, name: 'longer' },
    "Invalid input for field/attribute name. Value: 'longer'. Value should have a maximum character requirement of 5",
  ],
  ['create', { size: 1, parts: [{ hue: 1 }] }, 'Unknown attribute for argument thing_.thing.parts: hue'],
  ['create', { size: 1, parts: [7] }, "Invalid input for field/attribute parts. Value: '7'. Value not a valid dict."],
  ['create', [], "Invalid input for field/attribute thing. Value: '[]'. Value not a valid dict."],
]

test.each(faults)('%s %j is refused in wsme’s words', (mode, json, message) => {
  expect(() => read(mode, json)).toThrow(expect.objectContaining({ status: 400, message }))
})

test('prints all printable fields, or the requested ones', () => {
  expect(printObject(fields, blank())).toEqual({ name: 'blank', size: 0, note: 'blank' })
  expect(printObject(fields, blank(), new Set(['size']))).toEqual({ size: 0 })
})
