import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { FlowSettings } from '@spout/model/node-state'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../domain/run.ts'
import { labPrefix } from '../testing/lab-names.ts'
import { silent } from '../testing/lab-node.ts'
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

/** The replication of an agent that finds what the previous agent left. */
async function agent(
  more: { readonly rootNamespace?: string; readonly stuckMs?: number } = {},
): Promise<FlowReplication> {
  const { rootNamespace, ...options } = more
  const config = { instance: 'spt', fabricInterface: 'lo', segments: {}, ...(rootNamespace && { rootNamespace }) }
  const directory = path.join(place, 'run')
  const replication = new FlowReplication({ config, log: silent, executable, directory, ...options })
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

it('leaves a program to itself no longer that faces another namespace', async () => {
  const name = labPrefix()
  const first = await agent()
  await waitFor(async () => (await pidOf(first)) !== undefined, { what: 'the first account' })
  const pid = await pidOf(first)
  await first.close()
  await run('ip', ['netns', 'add', name])
  try {
    await run('ip', ['-n', name, 'link', 'set', 'dev', 'lo', 'up'])
    const second = await agent({ rootNamespace: name })
    await waitFor(async () => (await pidOf(second)) !== pid, { what: 'a new program to speak' })
    expect(await second.report()).toMatchObject({ error: null })
    await second.configure(null)
    await second.close()
  } finally {
    await run('ip', ['netns', 'delete', name])
  }
})

it('ends a program that runs and does nothing, and starts another', async () => {
  const replication = await agent({ stuckMs: 2_500 })
  await waitFor(async () => (await pidOf(replication)) !== undefined, { what: 'the first account' })
  const pid = (await pidOf(replication))!
  process.kill(pid, 'SIGSTOP')
  await waitFor(async () => (await pidOf(replication)) !== pid, { what: 'another program to speak', timeoutMs: 20_000 })
  await replication.configure(null)
  await replication.close()
}, 30_000)
