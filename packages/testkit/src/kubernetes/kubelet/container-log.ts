import { readFileSync, statSync } from 'node:fs'

/** How much a log had at a time, in bytes. */
interface Length {
  readonly atMs: number
  readonly bytes: number
}

/** A container's log file, and when it grew: its lines have no times of their own. */
export class ContainerLog {
  readonly #file: string
  /** At most one a second, which is the unit of `sinceTime`. */
  readonly #lengths: Length[] = []

  constructor(file: string) {
    this.#file = file
  }

  /** Notes how long it is now. What was written before the first look is as old as that look. */
  look(nowMs: number): void {
    const last = this.#lengths.at(-1)
    if (last !== undefined && nowMs - last.atMs < 1000) return
    const bytes = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
    if (bytes !== last?.bytes) this.#lengths.push({ atMs: nowMs, bytes })
  }

  /** What was written since a time, and up to about a second more. */
  since(ms: number): Buffer {
    const from = this.#lengths.findLast(({ atMs }) => atMs <= ms)?.bytes ?? 0
    return readFileSync(this.#file).subarray(from)
  }
}
