import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HighestTerm } from './highest-term.ts'

let directory: string
let failures: unknown[]
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-term-'))
  failures = []
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (name = 'term.json') => HighestTerm.open(path.join(directory, name), (error) => void failures.push(error))
const outcome = (highest: HighestTerm, store: string, token: number) =>
  highest.admit({ store, token }).then(
    () => 'followed',
    (error: Error) => error.message,
  )

test('a lower token than was followed is refused, also after a restart; the same and a higher one are followed', async () => {
  const first = await open()
  expect(await outcome(first, 'a1', 5)).toBe('followed')
  expect(await outcome(first, 'a1', 4)).toBe('this server leads by token 4 of store a1, and token 5 was followed')
  expect(await outcome(first, 'a1', 5)).toBe('followed')
  expect(await outcome(first, 'a1', 9)).toBe('followed')
  const again = await open()
  expect(await outcome(again, 'a1', 8)).toContain('token 9 was followed')
  expect(await outcome(again, 'a1', 10)).toBe('followed')
  expect(failures).toEqual([])
})

test('tokens of another store begin anew, and a server whose store counts none is followed', async () => {
  const highest = await open()
  expect(await outcome(highest, 'a1', 5)).toBe('followed')
  await highest.admit(null)
  expect(await outcome(highest, 'b2', 1)).toBe('followed')
  expect(JSON.parse(readFileSync(path.join(directory, 'term.json'), 'utf8'))).toEqual({ store: 'b2', token: 1 })
})

test('a file that cannot be read or written is told, and terms are compared nevertheless', async () => {
  writeFileSync(path.join(directory, 'term.json'), '{"store":')
  const damaged = await open()
  expect(failures).toHaveLength(1)
  expect(await outcome(damaged, 'a1', 5)).toBe('followed')
  const nowhere = await open('no/such/directory')
  expect(await outcome(nowhere, 'a1', 5)).toBe('followed')
  expect(failures).toHaveLength(2)
  expect(await outcome(nowhere, 'a1', 4)).toContain('token 5 was followed')
})
