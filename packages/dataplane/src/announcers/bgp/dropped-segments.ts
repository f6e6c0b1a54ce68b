import { readFile } from 'node:fs/promises'
import type { DroppedSegments } from './bgp-session.ts'

export const NONE_DROPPED: DroppedSegments = { wrong: 0, unexpected: 0 }

/** The kernel's counters in the namespace of a process, since the namespace was created. */
export async function readDroppedSegments(pid: number): Promise<DroppedSegments> {
  return parseNetstat(await readFile(`/proc/${pid}/net/netstat`, 'utf8').catch(() => ''))
}

/** @param text of `/proc/net/netstat`: pairs of lines, names above numbers */
export function parseNetstat(text: string): DroppedSegments {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(/\s+/))
  const count = (name: string): number => {
    const index = names.indexOf(name)
    return index < 0 ? 0 : Number(values[index]) || 0
  }
  return { wrong: count('TCPMD5NotFound') + count('TCPMD5Failure'), unexpected: count('TCPMD5Unexpected') }
}
