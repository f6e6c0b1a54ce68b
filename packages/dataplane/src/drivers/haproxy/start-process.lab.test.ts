import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@spout/runtime'
import { endProcess, execOk, identifyProcess, isRunning } from '@spout/sys'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { proxyFiles } from './processes/proxy-files.ts'
import { RunningProxy } from './processes/running-proxy.ts'
import { startProcess } from './processes/start-process.ts'
import { contentOf } from './rendering/content.ts'

const HAPROXY = '/usr/sbin/haproxy'

let directory: string
let old: number

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spt-'))
  await start('old')
  old = await pidOf('old')
})

afterEach(async () => {
  for (const name of ['old', 'new']) {
    const process = await identifyProcess(await pidOf(name).catch(() => 0))
    if (process !== null) await endProcess(process, 1000)
  }
  await rm(directory, { recursive: true, force: true })
})

const pidOf = async (name: string): Promise<number> => Number(await readFile(join(directory, `${name}.pid`), 'utf8'))

async function start(name: string, ...replacing: readonly string[]): Promise<void> {
  const at = (end: string) => join(directory, `${name}.${end}`)
  const lines = [
    'global',
    `  stats socket ${at('sock')} level admin expose-fd listeners`,
    'defaults',
    '  timeout client 1s',
    'frontend a',
    `  bind unix@${join(directory, 'front')}`,
  ]
  await writeFile(at('cfg'), `${lines.join('\n')}\n`)
  await execOk([HAPROXY, '-D', '-f', at('cfg'), '-p', at('pid'), ...replacing])
}

const replacing = () => ['-x', join(directory, 'old.sock'), '-sf', String(old)]

it('a process that hands over its sockets late is asked again', async () => {
  process.kill(old, 'SIGSTOP')
  let attempts = 0
  await startProcess(async () => {
    attempts++
    // The first attempt fails: only then does the old process go on.
    await start('new', ...replacing()).finally(() => process.kill(old, 'SIGCONT'))
  })
  expect(attempts).toBe(2)
  expect(await isRunning((await identifyProcess(await pidOf('new')))!)).toBe(true)
})

it('one that never does is told of in the words of HAProxy, and goes on', async () => {
  process.kill(old, 'SIGSTOP')
  try {
    await expect(startProcess(() => start('new', ...replacing()))).rejects.toThrow(
      'HAProxy does not start: Failed to get the sockets from the old process!',
    )
  } finally {
    process.kill(old, 'SIGCONT')
  }
  expect(await isRunning((await identifyProcess(old))!)).toBe(true)
})

/** How a connection to a UNIX socket ends: the error, or `connected`. */
async function answerOf(path: string): Promise<string> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return 'connected'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  } finally {
    socket.destroy()
  }
}

it('a replaced process is known to accept connections until it has taken the signal to stop', async () => {
  const files = { ...proxyFiles(directory, directory), statsSocket: () => join(directory, 'old.sock') }
  const replaced = await RunningProxy.attach((await identifyProcess(old))!, 0, files, contentOf([]), () => {})
  try {
    expect(await replaced.stopsWithin(20, systemClock)).toBe(false)
    expect(await answerOf(join(directory, 'front'))).toBe('connected')
    process.kill(old, 'SIGSTOP')
    await execOk(['/bin/kill', '-USR1', String(old)])
    const stops = replaced.stopsWithin(5_000, systemClock)
    process.kill(old, 'SIGCONT')
    expect(await stops).toBe(true)
    expect(await answerOf(join(directory, 'front'))).toBe('ECONNREFUSED')
  } finally {
    replaced.detach()
  }
})
