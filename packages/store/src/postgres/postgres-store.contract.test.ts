import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSeveralProcesses, watching } from '../conformance/several-processes.ts'
import { codeOf, nextChange, put } from '../conformance/subject.ts'
import { describeStore } from '../conformance.ts'
import { PostgresStore } from './postgres-store.ts'
import { PostgresDatabases } from './testing/postgres-databases.ts'

let databases: PostgresDatabases
beforeAll(async () => {
  databases = await PostgresDatabases.start()
})
afterAll(() => databases.server.dispose())

describeStore('postgres', async ({ clock, bookmarkIntervalMs }) => {
  const database = await databases.emptied()
  const open = () => PostgresStore.open({ database, bookmarkIntervalMs, leaseTimeMs: () => clock.monotonicMs() })
  let store = await open()
  return {
    store,
    keepsLeases: true,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    dispose: () => store.close(),
  }
})

describeSeveralProcesses('postgres', async ({ clock }) => {
  const database = await databases.create()
  const open = () => PostgresStore.open({ database, leaseTimeMs: () => clock.monotonicMs() })
  return [await open(), await open()]
})

test('the log is kept within its retention; a watch from far back reads it from the server', async () => {
  const database = await databases.create()
  const retention = { changes: 6000, bytes: 256 * 1024 * 1024 }
  const [a, b] = [await PostgresStore.open({ database, retention }), await PostgresStore.open({ database, retention })]
  const from = await a.revision()
  let middle = from
  for (let n = 0; n < 100; n++) {
    const { revision } = await a.commit(Array.from({ length: 70 }, (_, m) => put(`o${m}`, n)))
    if (n === 30) middle = revision
  }
  expect(await codeOf(watching(b, from).next())).toBe('Gone')
  const far = watching(b, middle)
  for (let n = 31; n < 100; n++) for (let m = 0; m < 70; m++) expect(await nextChange(far)).toBe(`+o${m}`)
  await Promise.all([a.close(), b.close()])
})
