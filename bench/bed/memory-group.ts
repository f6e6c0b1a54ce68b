import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const HIERARCHY = '/sys/fs/cgroup/memory'

/**
 * A memory control group (v1). It is charged with new memory of its processes, and with what the kernel allocates for
 * them (nftables elements, routes), which no process shows.
 */
export class MemoryGroup implements Disposable {
  readonly #directory: string

  constructor(name: string) {
    this.#directory = path.join(HIERARCHY, name)
    mkdirSync(this.#directory)
  }

  join(pids: readonly number[]): void {
    for (const pid of pids) writeFileSync(path.join(this.#directory, 'cgroup.procs'), String(pid))
  }

  get kernelBytes(): number {
    return Number(readFileSync(path.join(this.#directory, 'memory.kmem.usage_in_bytes'), 'utf8'))
  }

  /** Moves its processes back to the hierarchy's root. */
  [Symbol.dispose](): void {
    const pids = readFileSync(path.join(this.#directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)
    for (const pid of pids) writeFileSync(path.join(HIERARCHY, 'cgroup.procs'), pid)
    rmdirSync(this.#directory)
  }
}
