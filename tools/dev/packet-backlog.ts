import { readFileSync } from 'node:fs'

/**
 * How many received packets the kernel has dropped since the machine started, because the queue of their processor was
 * full; 0 where it does not say. Each processor has one queue for all network namespaces, so a test that floods can make
 * others lose packets.
 */
export function droppedOfBacklogs(file = '/proc/net/softnet_stat'): number {
  try {
    // A line for each processor, in hexadecimal: packets, dropped, and others (Documentation/networking/scaling.rst).
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    return lines.reduce((sum, line) => sum + Number.parseInt(line.split(/\s+/)[1] ?? '0', 16), 0)
  } catch {
    return 0
  }
}
