import { readFileSync, writeFileSync } from 'node:fs'

const LIMITS = ['gc_thresh1', 'gc_thresh2', 'gc_thresh3'] as const
const FILES = ['ipv4', 'ipv6'].flatMap((family) =>
  LIMITS.map((limit) => `/proc/sys/net/${family}/neigh/default/${limit}`),
)

/**
 * Enlarges the neighbour table for the router. The kernel counts entries of all namespaces together, and its default of
 * 1,024 is less than any router has; it is restored afterwards.
 */
export class NeighbourRoom implements Disposable {
  readonly #before = FILES.map((file) => readFileSync(file, 'utf8').trim())

  constructor(entries: number) {
    for (const file of FILES.toReversed()) writeFileSync(file, String(entries))
  }

  [Symbol.dispose](): void {
    for (const [n, file] of FILES.entries()) writeFileSync(file, this.#before[n] ?? '')
  }
}
