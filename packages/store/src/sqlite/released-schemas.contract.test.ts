import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { put } from '../conformance/subject.ts'
import { FORMATS } from '../formats.ts'
import { MIGRATIONS } from './migrations.ts'
import { SqliteStore } from './sqlite-store.ts'

/**
 * A file of every schema that was, written by the store of that time, and the objects that each store listed. Each has a
 * deleted object and a large one with edits. They are of the commits before f1cf0c3e (1) and 12858f7a (2, `unmarked`: in
 * files from before that `user_version` does not say who can use them), of 43501fc1 (2) and f00b5de4 (3).
 */
const RELEASED = path.join(import.meta.dirname, 'testdata/released')
const NAMES = globSync('*.db', { cwd: RELEASED })
  .map((file) => file.replace('.db', ''))
  .sort()

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-schema-'))
  file = path.join(directory, 'spout.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function contents(store: SqliteStore) {
  const kinds = ['loadBalancer', 'network', 'project']
  const lists = await Promise.all(kinds.map((kind) => store.list(kind)))
  return lists.flatMap(({ items }) => items.map(({ kind, id, scope, value }) => ({ kind, id, scope, value })))
}

test('there is a file of every schema', () => {
  const schemas = NAMES.map((name) => Number(/\d+/.exec(name)))
  expect(new Set(schemas)).toEqual(new Set(MIGRATIONS.map((_, at) => at + 1)))
})

describe.each(NAMES)('%s', (name) => {
  test('is migrated: the objects and the log are there, and it is written on', async () => {
    copyFileSync(path.join(RELEASED, `${name}.db`), file)
    const before = JSON.parse(readFileSync(path.join(RELEASED, 'objects.json'), 'utf8'))
    for (const time of ['migrated', 'reopened']) {
      const store = await SqliteStore.open({ path: file })
      expect([time, await contents(store)]).toEqual([time, before])
      expect(await store.format()).toEqual(FORMATS.sqlite)
      const from = await store.revision()
      await store.commit([put(time)])
      const changes = store.watch({ from, signal: AbortSignal.timeout(10_000) })[Symbol.asyncIterator]()
      expect((await changes.next()).value).toMatchObject({ type: 'put', object: { id: time } })
      await changes.return?.()
      await store.close()
    }
    const fresh = path.join(directory, 'fresh.db')
    await (await SqliteStore.open({ path: fresh })).close()
    expect(schemaOf(file)).toEqual(schemaOf(fresh))
  })
})

const schemaOf = (at: string) => {
  using database = new DatabaseSync(at)
  return database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all()
}
