import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { codeOf, next, put, remove } from '../conformance/subject.ts'
import type { Change, Revision } from '../store.ts'
import { SqliteStore } from './sqlite-store.ts'

let directory: string
let path: string
let store: SqliteStore
const ending = new AbortController()
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-edits-'))
  path = join(directory, 'spout.db')
  store = await SqliteStore.open({ path })
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

interface Large {
  readonly generation: number
  readonly members: readonly { readonly id: string; readonly text: string }[]
}

const member = (n: number) => ({ id: `m${n}`, text: 'x'.repeat(100) })
const large: Large = { generation: 1, members: Array.from({ length: 300 }, (_, n) => member(n)) }

const watch = (from: Revision) => store.watch({ from, signal: ending.signal })[Symbol.asyncIterator]()

/** Puts over what a watch gives, as admission does. */
async function change(from: Revision, make: (before: Large) => Large): Promise<{ revision: Revision; value: Large }> {
  const { object } = (await next(watch(from))) as Change & { type: 'put' }
  const value = make(object.value as Large)
  const { revision } = await store.commit([put('a', value, { ifRevision: object.revision, over: object.value })])
  return { revision, value }
}
const more = (before: Large): Large => ({
  generation: before.generation + 1,
  members: [...before.members, member(1000 + before.generation)],
})

async function reopened(): Promise<void> {
  await store.close()
  store = await SqliteStore.open({ path })
}
const rows = (table: string): number => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
  } finally {
    database.close()
  }
}

test('only the edits of a large object are written, and get, list and watch return it whole, also after a restart', async () => {
  const start = await store.revision()
  const { revision: first } = await store.commit([put('a', large, { scope: null })])
  const { revision, value } = await change(start, more)
  const second = await change(first, (before) => ({
    ...before,
    generation: 3,
    members: before.members.toSpliced(7, 1),
  }))
  expect(value.members).toHaveLength(301)
  for (const restart of [false, true]) {
    if (restart) await reopened()
    expect((await store.get('node', 'a'))?.value).toEqual(second.value)
    expect((await store.get('node', 'a'))?.revision).toBe(second.revision)
    expect((await store.list('node')).items).toEqual([await store.get('node', 'a')])
    const changes = watch(start)
    const seen = [await next(changes), await next(changes), await next(changes)] as (Change & { type: 'put' })[]
    expect(seen.map(({ object }) => object.revision)).toEqual([first, revision, second.revision])
    expect(seen.map(({ object }) => object.value)).toEqual([large, value, second.value])
    expect(seen.every(({ object }) => Object.isFrozen(object.value))).toBe(true)
  }
  await store.close()
  expect([rows('edit'), rows('object'), rows('change')]).toEqual([2, 1, 3])
  store = await SqliteStore.open({ path })
})

test('watches get the value that was put, uncopied, and share what did not change', async () => {
  const start = await store.revision()
  const { revision: first } = await store.commit([put('a', large)])
  const { value } = await change(start, more)
  const { object } = (await next(watch(first))) as Change & { type: 'put' }
  expect(object.value).toBe(value)
  expect(Object.isFrozen(value.members)).toBe(true)
})

test('it is written whole again at times, and versions in between are left out of an old log', async () => {
  const start = await store.revision()
  let { revision } = await store.commit([put('a', large)])
  let last: Large = large
  let from = start
  for (let n = 0; n < 100; n++) {
    const made = await change(from, more)
    ;[from, revision, last] = [revision, made.revision, made.value]
  }
  await reopened()
  expect((await store.get('node', 'a'))?.value).toEqual(last)
  const told: Change[] = []
  for await (const one of store.watch({ from: start, signal: ending.signal })) {
    if (one.type === 'bookmark') break
    told.push(one)
  }
  const generations = told.map((one) => ((one as Change & { type: 'put' }).object.value as Large).generation)
  expect(generations.at(-1)).toBe(101)
  expect(generations).toEqual([...generations].sort((a, b) => a - b))
  await store.close()
  expect(rows('edit')).toBeLessThanOrEqual(64)
  store = await SqliteStore.open({ path })
})

test('edits of a deleted object are refused like any other write', async () => {
  const start = await store.revision()
  const { revision: first } = await store.commit([put('a', large)])
  const { revision: second } = await change(start, more)
  const { object } = (await next(watch(start))) as Change & { type: 'put' }
  const stale = put('a', more(large), { ifRevision: object.revision, over: object.value })
  expect(await codeOf(store.commit([stale]))).toBe('RevisionConflict')
  expect((await store.get('node', 'a'))?.revision).toBe(second)
  await store.commit([remove('a')])
  expect(await store.get('node', 'a')).toBeNull()
  expect(await codeOf(store.commit([stale]))).toBe('NotFound')
  await store.commit([put('a', { generation: 0, members: [] }, { ifRevision: 'absent' })])
  expect((await store.get('node', 'a'))?.value).toEqual({ generation: 0, members: [] })
  expect(first).not.toBe(second)
})

test('a value given as over another version is written whole', async () => {
  const { revision } = await store.commit([put('a', large)])
  const wrong = { generation: 7, members: [] }
  const value = { ...large, generation: 2 }
  await store.commit([put('a', value, { ifRevision: revision, over: wrong })])
  await reopened()
  expect((await store.get('node', 'a'))?.value).toEqual(value)
})
