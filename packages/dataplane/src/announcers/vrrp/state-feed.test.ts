import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StateFeed } from './state-feed.ts'

let directory: string
let feed: StateFeed

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spout-state-'))
  feed = new StateFeed(join(directory, 'state.json'), { debug: () => {}, info: () => {}, warn: () => {} })
})
afterEach(() => {
  feed.close()
  rmSync(directory, { recursive: true, force: true })
})

const replace = (text: string) => {
  writeFileSync(join(directory, 'new'), text)
  renameSync(join(directory, 'new'), join(directory, 'state.json'))
}
const account = (generation: number) =>
  JSON.stringify({ pid: 7, generation, shards: [], failed: [], swept: 0, conflicts: 0 })

describe('StateFeed', () => {
  it('has no state before the file exists', async () => {
    await feed.open()
    expect(feed.state).toBeNull()
  })

  it('notices a replaced state, and waits for the requested one', async () => {
    await feed.open()
    const third = feed.until(({ generation }) => generation === 3, 'not there', 10_000)
    for (const generation of [1, 2, 3]) replace(account(generation))
    expect((await third).generation).toBe(3)
    expect((await feed.until(({ generation }) => generation === 3, 'not there', 10_000)).generation).toBe(3)
  })

  it('ignores a file that is no state', async () => {
    replace('{"pid":1')
    await feed.open()
    expect(feed.state).toBeNull()
    const changed = new Promise((resolve) => feed.onChange(resolve))
    replace(account(4))
    expect(await changed).toMatchObject({ generation: 4 })
  })

  it('fails with a message, or with the reason of the signal', async () => {
    await feed.open()
    await expect(feed.until(() => false, 'it is not there', 1)).rejects.toThrow('it is not there within 1 ms')
    const abort = new AbortController()
    const waiting = feed.until(() => false, 'not there', 10_000, abort.signal)
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
