import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run, TypedPage, writeProgram } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf, put } from '../conformance/subject.ts'
import { SqliteStore } from '../sqlite/sqlite-store.ts'
import { PostgresStore } from './postgres-store.ts'
import { settingsOf } from './testing/postgres-databases.ts'

const CLI = path.resolve(import.meta.dirname, '../../../../apps/cli/src/main.ts')

/** A command starts a Node.js program, on a machine that may be busy. */
const LONGEST_MS = 240_000

let server: PostgresServer
let directory: string
beforeAll(async () => {
  server = await PostgresServer.start()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-page-'))
  writeProgram(path.join(directory, 'spout'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`)
})
afterAll(async () => {
  await server.dispose()
  rmSync(directory, { recursive: true })
})

test('the commands of the page: set up, move from SQLite, back up and restore', { timeout: 600_000 }, async () => {
  const env = {
    PATH: `${directory}:${path.dirname(server.program('psql'))}:${process.env['PATH']}`,
    ...{ PGHOST: server.host, PGUSER: server.user, PGPORT: String(server.port) },
  }
  const own = (command: string) =>
    command.replaceAll('/var/lib/spout', directory).replaceAll('/run/postgresql', server.host)
  const page = new TypedPage('postgresql.md', (command) =>
    run(['bash', '-c', `cd '${directory}'\n${own(command)}`], { env, timeoutMs: LONGEST_MS }),
  )
  await page.type('psql -d postgres -c "CREATE ROLE')
  await page.type('createdb')

  const file = await SqliteStore.open({ path: path.join(directory, 'spout.db') })
  await file.commit([put('n1', { name: 'n1' }), put('p1', { name: 'p' }, { kind: 'project', scope: 'p1' })])
  await file.close()
  const migrate = page.take('spout store migrate').command
  const migrated = await run(['bash', '-c', own(migrate)], { env, timeoutMs: LONGEST_MS })
  expect([migrated.code, migrated.stderr]).toEqual([0, ''])
  expect(migrated.stdout.split('\n').filter(Boolean).toSorted()).toEqual([
    'copied to database spout',
    'node 1',
    'project 1',
  ])
  const again = await run(['bash', '-c', own(migrate)], { env, timeoutMs: LONGEST_MS })
  expect(again.code).toBe(2)
  expect(again.stderr).toMatch(/^spout: database spout is not empty: .* already exists; nothing was copied\n$/)

  const database = { ...settingsOf(server, 'spout'), user: 'spout' }
  const store = await PostgresStore.open({ database })
  expect(await store.get('node', 'n1')).toMatchObject({ value: { name: 'n1' } })
  const { revision: dumped } = await store.commit([put('kept')])
  await page.type('pg_dump')
  const { revision: later } = await store.commit([put('after-the-dump')])
  await store.close()

  await page.type('dropdb')
  await page.type('createdb')
  await page.type('pg_restore')
  await page.type('psql -d spout -c "UPDATE spout.store')
  const elsewhere = 'apps/control-plane types what is said of several control planes'
  for (const beginning of ['tar ', 'curl ']) page.leaveOut(beginning, elsewhere)
  expect(page.left).toEqual([])
  const restored = await PostgresStore.open({ database })
  expect((await restored.list('node')).items.map(({ id }) => id)).toEqual(['kept', 'n1'])
  for (const from of [dumped, later])
    expect(await codeOf(restored.watch({ from, signal: new AbortController().signal }).next())).toBe('Gone')
  expect(await codeOf(restored.commit([put('goes-on')]))).toBe('accepted')
  await restored.close()
})
