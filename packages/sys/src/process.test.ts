import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  endProcess,
  findProcesses,
  identifyProcess,
  isIdInUse,
  isInAnotherNetns,
  isRunning,
  parseProcStat,
  runsAnotherProgram,
  signalProcess,
  startDaemon,
} from './process.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spt-process-'))
})
afterAll(() => rm(directory, { recursive: true }))

test('reads the start time behind a hostile name', () => {
  const rest = ['S', ...Array.from({ length: 18 }, (_, i) => i), 4711, 0].join(' ')
  expect(parseProcStat(`12 (a) b (c) R 1 ) ${rest}\n`)).toEqual({ state: 'S', threads: 16, startTicks: 4711 })
})

test('takes a daemon for running until its last thread has ended', async () => {
  const program = [
    'import ctypes, threading',
    'threading.Thread(target=threading.Event().wait).start()',
    'ctypes.CDLL(None).pthread_exit(None)',
  ].join('\n')
  const daemon = await startDaemon(['/usr/bin/python3', '-c', program], { logFile: join(directory, 'threads') })
  try {
    const state = async () => parseProcStat(await readFile(`/proc/${daemon.pid}/stat`, 'utf8')).state
    await expect.poll(state, { timeout: 10_000 }).toBe('Z')
    expect(await isRunning(daemon)).toBe(true)
  } finally {
    await endProcess(daemon, 5_000)
  }
  expect(await isRunning(daemon)).toBe(false)
})

test('starts a daemon with its output in a file, knows it, and ends it', async () => {
  const logFile = join(directory, 'log')
  const daemon = await startDaemon([process.execPath, '-e', 'console.log("up"); setInterval(() => {}, 1000)'], {
    logFile,
  })
  try {
    await expect.poll(() => readFile(logFile, 'utf8'), { timeout: 10_000 }).toBe('up\n')
    expect(await isRunning(daemon)).toBe(true)
    expect(await identifyProcess(daemon.pid)).toEqual(daemon)
    expect(isIdInUse(daemon.pid)).toBe(true)
  } finally {
    await endProcess(daemon, 5_000)
  }
  expect(await isRunning(daemon)).toBe(false)
  await expect.poll(() => isIdInUse(daemon.pid)).toBe(false)
  expect(await signalProcess(daemon, 'SIGTERM')).toBe(false)
  await endProcess(daemon, 0)
})

test('finds a daemon by its command line, and sees when an upgrade replaced its program', async () => {
  const executable = join(directory, 'sleep')
  await copyFile('/usr/bin/sleep', executable)
  const daemon = await startDaemon([executable, '4711'], { logFile: join(directory, 'log-of-found') })
  try {
    const found = () => findProcesses((words) => words[0] === executable && words[1] === '4711')
    await expect.poll(found, { timeout: 10_000 }).toMatchObject([daemon])
    expect(await findProcesses((words) => words[0] === `${executable}-not`)).toEqual([])
    expect(await runsAnotherProgram(daemon, executable)).toBe(false)
    expect(await isInAnotherNetns(daemon)).toBe(false)
    await copyFile('/usr/bin/sleep', `${executable}.new`)
    await rename(`${executable}.new`, executable)
    expect(await runsAnotherProgram(daemon, executable)).toBe(true)
    // False for a file that does not exist.
    expect(await runsAnotherProgram(daemon, `${executable}-not`)).toBe(false)
  } finally {
    await endProcess(daemon, 5_000)
  }
  expect(await runsAnotherProgram(daemon, executable)).toBe(false)
})

test('kills what does not heed SIGTERM', async () => {
  const logFile = join(directory, 'stubborn')
  const code = 'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)'
  const daemon = await startDaemon([process.execPath, '-e', code], { logFile })
  await expect.poll(() => readFile(logFile, 'utf8'), { timeout: 10_000 }).toBe('up\n')
  await endProcess(daemon, 50)
  expect(await isRunning(daemon)).toBe(false)
})

test('never takes another process for it', async () => {
  const self = await identifyProcess(process.pid)
  const stranger = { pid: process.pid, startTicks: self!.startTicks + 1 }
  expect(await isRunning(stranger)).toBe(false)
  expect(await signalProcess(stranger, 'SIGKILL')).toBe(false)
})

test('says that a daemon cannot be started', async () => {
  await expect(startDaemon(['/absent/daemon'], { logFile: join(directory, 'log') })).rejects.toMatchObject({
    code: 'ENOENT',
  })
})
