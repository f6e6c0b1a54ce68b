import { readFile } from 'node:fs/promises'

/**
 * How many connections the kernel dropped in the namespace of a process since the queue of those that wait to be accepted
 * was full. Counted since the namespace was made; 0 once the process is gone.
 */
export async function listenOverflows(pid: number): Promise<number> {
  return readOverflows(await readFile(`/proc/${pid}/net/netstat`, 'utf8').catch(() => ''))
}

/** @param text `/proc/net/netstat`: two lines `TcpExt:`, of names and of their numbers */
export function readOverflows(text: string): number {
  const [names = [], numbers = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  return Number(numbers[names.indexOf('ListenOverflows')] ?? 0)
}
