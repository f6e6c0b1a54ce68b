import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openForWriting } from './connection.ts'
import { ObjectWrites } from './object-writes.ts'
import { prepareAll, type Statements } from './statements.ts'

let directory: string
let connection: DatabaseSync
let statements: Statements
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-object-writes-'))
  connection = openForWriting(join(directory, 'spout.db'))
  statements = prepareAll(connection)
})
afterEach(async () => {
  connection.close()
  await rm(directory, { recursive: true })
})

const ref = { kind: 'node', id: 'a' }
const written = { ...ref, scope: null, text: 'x'.repeat(100), isEdit: true, condition: 'none' } as const
const whole = { ...written, text: 'x'.repeat(20_000), isEdit: false } as const

/** Writes edits as a commit does, as long as they are taken. @returns how many were */
function edit(objects: ObjectWrites, first: number, most: number): number {
  for (let count = 0; count < most; count++) {
    if (!objects.takesEdits(written, objects.present(ref))) return count
    objects.edit(ref, written.text, first + count)
  }
  return most
}

test('edits of an object are added up in the file once, however many there are', () => {
  const objects = new ObjectWrites(statements)
  const asked = vi.spyOn(statements.editSum, 'get')
  objects.put(whole, whole.text, 1)
  expect(objects.present(ref)).toEqual({ scope: null, revision: 1 })
  expect(edit(objects, 2, 30)).toBe(30)
  expect(objects.present(ref)).toEqual({ scope: null, revision: 31 })
  expect(asked).toHaveBeenCalledTimes(0)

  const later = new ObjectWrites(statements)
  expect(later.present(ref)).toEqual({ scope: null, revision: 31 })
  expect(edit(later, 32, 100)).toBe(34)
  expect(later.present(ref)).toEqual({ scope: null, revision: 65 })
  expect(asked).toHaveBeenCalledTimes(1)

  later.put(whole, whole.text, 66)
  expect(later.present(ref)).toEqual({ scope: null, revision: 66 })
  expect(edit(later, 67, 100)).toBe(64)
  later.remove(ref)
  expect(later.present(ref)).toBeNull()
  later.put(whole, whole.text, 131)
  expect(later.present(ref)).toEqual({ scope: null, revision: 131 })
  expect(asked).toHaveBeenCalledTimes(1)
})

test('edits, or a whole object, of a transaction that failed do not count', () => {
  const objects = new ObjectWrites(statements)
  objects.put(whole, whole.text, 1)
  edit(objects, 2, 60)
  for (const fails of [() => edit(objects, 62, 2), () => objects.put(whole, whole.text, 62)]) {
    connection.exec('BEGIN')
    fails()
    connection.exec('ROLLBACK')
    objects.rolledBack()
    expect(objects.present(ref)).toEqual({ scope: null, revision: 61 })
  }
  expect(edit(objects, 62, 100)).toBe(4)
})
