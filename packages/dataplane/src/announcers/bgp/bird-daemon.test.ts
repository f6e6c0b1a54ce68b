import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock } from '@spout/runtime'
import { endProcess, isRunning, readFileOrNull, startDaemon } from '@spout/sys'
import { expect, it } from 'vitest'
import { silent } from '../../testing/lab-node.ts'
import { BirdDaemon } from './bird-daemon.ts'

/** A program in BIRD's place that closes each connection before it sends the greeting. */
const HANGS_UP = `
  const { createServer } = require('node:net')
  createServer((socket) => socket.destroy()).listen(process.argv[1], () => console.log('listens'))
`

it('ends a daemon that hangs up before it greets, and takes over none', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'spt-bird-'))
  const logFile = path.join(directory, 'listens')
  const left = await startDaemon([process.execPath, '-e', HANGS_UP, path.join(directory, 'ctl')], { logFile })
  try {
    await writeFile(path.join(directory, 'pid'), `${left.pid}\n`)
    await expect.poll(() => readFileOrNull(logFile), { timeout: 10_000 }).not.toHaveLength(0)
    const daemon = new BirdDaemon({
      name: 'bgp',
      directory,
      owner: null,
      command: { executable: '/usr/sbin/bird', user: null, namespace: null, realTime: false },
      gracefulRestart: true,
      log: silent,
      clock: systemClock,
    })
    expect(await daemon.adopt()).toBe(false)
    expect(daemon.process).toBeNull()
    expect(await isRunning(left)).toBe(false)
    await daemon.close()
  } finally {
    await endProcess(left, 1_000)
    await rm(directory, { recursive: true })
  }
})
