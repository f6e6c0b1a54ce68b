import { readFile } from 'node:fs/promises'

/**
 * Counts connections that the kernel dropped in the namespace of a process because an accept queue was full, since the
 * namespace was created; 0 if the process is gone.
 */
export async function listenOverflows(pid: number): Promise<number> {
  return readOverflows(await readFile(`/proc/${pid}/net/netstat`, 'utf8').catch(() => ''))
}

/** @param text `/proc/net/netstat`: two lines `TcpExt:`, of names and of their values */
export function readOverflows(text: string): number {
  const [names = [], numbers = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  return Number(numbers[names.indexOf('ListenOverflows')] ?? 0)
}
