import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { FlowSettings } from '@spout/model/node-state'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silent } from '../lab/lab-node.ts'
import { FlowReplication } from './flow-replication.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../../../native/build/spout-flows')
const settings: FlowSettings = { source: '127.0.0.1', peers: ['127.0.0.2'], port: 7399, key: 'a5'.repeat(32) }

let place: string
let executable: string

beforeEach(async () => {
  place = await mkdtemp(path.join(tmpdir(), 'spt-flows-'))
  executable = path.join(place, 'spout-flows')
  await copyFile(PROGRAM, executable)
})
afterEach(() => rm(place, { recursive: true, force: true }))

/** An agent that finds what the one before left. */
async function agent(): Promise<FlowReplication> {
  const config = { instance: 'spt', fabricInterface: 'lo', segments: {} }
  const replication = new FlowReplication({ config, log: silent, executable, directory: path.join(place, 'run') })
  await replication.adopt([])
  await replication.configure(settings)
  return replication
}

const pidOf = async (replication: FlowReplication): Promise<number | undefined> => (await replication.state())?.pid

it('goes on with the program that an earlier agent started, unless an upgrade brought another', async () => {
  const first = await agent()
  await waitFor(async () => (await pidOf(first)) !== undefined, { what: 'the first account' })
  const pid = await pidOf(first)
  await first.close()

  const second = await agent()
  expect(second.counters.changes).toBe(0)
  expect(await pidOf(second)).toBe(pid)
  await second.close()

  await copyFile(PROGRAM, `${executable}.new`)
  await rename(`${executable}.new`, executable)
  const third = await agent()
  await waitFor(async () => (await pidOf(third)) !== pid, { what: 'the new program to speak' })
  expect(await third.report()).toMatchObject({ error: null })
  await third.configure(null)
  await third.close()
})
