import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { run } from '@spout/testkit'

/** The process that listens on a TCP port of this machine, if this user may see it. */
export interface PortHolder {
  readonly pid: number
  /** Its command line. */
  readonly command: string
}

/** Whether a port of loopback is free. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Null when the kernel does not tell. */
export async function holderOf(port: number): Promise<PortHolder | null> {
  const { stdout } = await run(['ss', '-Hltnp', `sport = :${port}`])
  const pid = Number(/pid=(\d+)/.exec(stdout)?.[1] ?? Number.NaN)
  if (!Number.isInteger(pid)) return null
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean)
    return { pid, command: words.join(' ') }
  } catch {
    return null
  }
}

const LONGEST_COMMAND = 100

/** The holder in words: `process 123 (node apps/control-plane/src/main.ts …)`. */
export function holderText(holder: PortHolder | null): string {
  if (holder === null) return 'another process'
  const { pid, command } = holder
  const shown = command.length > LONGEST_COMMAND ? `${command.slice(0, LONGEST_COMMAND)}…` : command
  return `process ${pid} (${shown})`
}
