import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStore } from './conformance.ts'
import { MemoryStore } from './memory/memory-store.ts'
import { SqliteStore } from './sqlite/sqlite-store.ts'

describeStore('memory', async (settings) => {
  const store = new MemoryStore(settings)
  return { store, dispose: () => store.close() }
})

describeStore('sqlite', async (settings) => {
  const directory = await mkdtemp(join(tmpdir(), 'spout-store-'))
  const open = () => SqliteStore.open({ ...settings, path: join(directory, 'spout.db') })
  let store = await open()
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    dispose: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
})
