import { appendFileSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { entryHash } from '@spout/model/entry-hash'
import { NODE_STATE_VERSION } from '@spout/model/node-state'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StateFile } from './state-file.ts'

/** What tools/release/stored-state.ts made of each version: the journal of a node with a load balancer of each kind. */
const RELEASED = path.join(import.meta.dirname, 'testdata/released')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-released-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test.each(readdirSync(RELEASED))('%s is taken over, entry by entry', async (name) => {
  const file = path.join(directory, 'entries.journal')
  copyFileSync(path.join(RELEASED, name), file)
  for (const time of ['as it was', 'with a torn line', 'written anew']) {
    const state = new StateFile(file, (error) => {
      throw error
    })
    await state.load()
    const saved = [...state.entries.values()]
    const protocols = saved.flatMap(({ entry }) => (entry.kind === 'load-balancer' ? entry.services : []))
    expect([time, protocols.map(({ protocol }) => protocol).sort()]).toEqual([time, ['http', 'https', 'tcp']])
    for (const { hash, entry } of saved) {
      expect(entry.version).toBe(NODE_STATE_VERSION)
      // What a node has is compared by hash: another hash would be a change to everything at once.
      expect([entry.key, entryHash(entry)]).toEqual([entry.key, hash])
    }
    await state.close()
    // A torn line has the journal written anew.
    appendFileSync(file, 'torn')
  }
})
