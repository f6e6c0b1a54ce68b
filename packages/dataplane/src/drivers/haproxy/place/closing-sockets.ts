import { readFile } from 'node:fs/promises'

/**
 * Hexadecimal states of the kernel's `tcp_states.h`: the process has closed the socket, and the peer has not received
 * everything.
 */
const CLOSING = new Set(['04', '09', '0B'])

/**
 * Counts TCP connections in the namespace of a process that still have data to send after the process closed them: the
 * end of a response may wait in the kernel for a slow client.
 */
export async function closingSockets(pid: number): Promise<number> {
  const texts = await Promise.all(
    ['tcp', 'tcp6'].map((file) => readFile(`/proc/${pid}/net/${file}`, 'utf8').catch(() => '')),
  )
  return texts.reduce((sum, text) => sum + countClosing(text), 0)
}

/** @param text `/proc/net/tcp`: a header, then one line per socket with the state in its fourth column */
export const countClosing = (text: string): number =>
  text.split('\n').filter((line) => CLOSING.has(line.trim().split(/\s+/)[3] ?? '')).length
