import { readFileSync, writeFileSync } from 'node:fs'

const LIMITS = ['gc_thresh1', 'gc_thresh2', 'gc_thresh3'] as const
const file = (limit: string): string => `/proc/sys/net/ipv4/neigh/default/${limit}`

/**
 * Room for the router's neighbours. The kernel counts those of all namespaces together, and its default of 1,024 is less
 * than any router has; it is put back afterwards.
 */
export class NeighbourRoom implements Disposable {
  readonly #before = LIMITS.map((limit) => readFileSync(file(limit), 'utf8').trim())

  constructor(entries: number) {
    for (const limit of LIMITS.toReversed()) writeFileSync(file(limit), String(entries))
  }

  [Symbol.dispose](): void {
    for (const [n, limit] of LIMITS.entries()) writeFileSync(file(limit), this.#before[n] ?? '')
  }
}
