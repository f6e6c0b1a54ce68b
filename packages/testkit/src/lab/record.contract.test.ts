import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startTicks } from './record.ts'
import { waitFor } from './wait-for.ts'

/** Ends the first thread of its process; the other one goes on. */
const LEADER_ENDS = `
import ctypes, threading
threading.Thread(target=threading.Event().wait).start()
ctypes.CDLL(None).pthread_exit(None)`

it('takes a process for alive until its last thread has ended', async () => {
  const child = spawn('python3', ['-c', LEADER_ENDS], { stdio: 'ignore' })
  try {
    const pid = child.pid ?? 0
    await waitFor(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '), { what: 'the first thread to end' })
    expect(startTicks(pid)).not.toBeNull()
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    expect(startTicks(pid)).toBeNull()
  } finally {
    child.kill('SIGKILL')
  }
})
