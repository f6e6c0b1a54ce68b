import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must } from './run.ts'

const SOURCE = path.resolve(import.meta.dirname, 'syscall-filter.c')

/**
 * Applies a unit's `SystemCallFilter=` without a service manager: systemd's own lists in a filter of ours
 * (systemd.exec(5)).
 */
export class SyscallFilter implements Disposable {
  readonly #directory: string
  /** Names of the allowed calls. */
  readonly allowed: ReadonlySet<string>
  /** By name, on this architecture. */
  readonly numbers: ReadonlyMap<string, number>
  /** Command line prefix that applies the filter. */
  readonly within: readonly string[]

  private constructor(directory: string, parts: Pick<SyscallFilter, 'allowed' | 'numbers' | 'within'>) {
    this.#directory = directory
    this.allowed = parts.allowed
    this.numbers = parts.numbers
    this.within = parts.within
  }

  /** @param settings values of `SystemCallFilter=` in order; one that begins with `~` removes calls */
  static async create(settings: readonly string[]): Promise<SyscallFilter> {
    const allowed = await allowedBy(settings)
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-filter-'))
    // Processes have given up root when they read it.
    chmodSync(directory, 0o755)
    const program = path.join(directory, 'syscall-filter')
    await must(['cc', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program, SOURCE])
    const numbers = await numbersHere()
    const list = path.join(directory, 'allowed')
    // Names of other architectures have no number here.
    writeFileSync(list, [...allowed].flatMap((name) => numbers.get(name) ?? []).join('\n'))
    return new SyscallFilter(directory, { allowed, numbers, within: [program, list] })
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

async function allowedBy(settings: readonly string[]): Promise<ReadonlySet<string>> {
  // Allowed whatever the lists say.
  const allowed = new Set(await membersOf('@default'))
  for (const setting of settings) {
    const takesAway = setting.startsWith('~')
    for (const word of setting.replace('~', '').split(/\s+/).filter(Boolean))
      for (const name of word.startsWith('@') ? await membersOf(word) : [word])
        if (takesAway) allowed.delete(name)
        else allowed.add(name)
  }
  return allowed
}

/** Names of the calls of a set, including its subsets. */
async function membersOf(set: string): Promise<readonly string[]> {
  const text = await must(['systemd-analyze', '--no-pager', 'syscall-filter', set])
  const words = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((word) => word !== '' && !word.startsWith('#'))
  const all = await Promise.all(words.map((word) => (word.startsWith('@') ? membersOf(word) : [word])))
  return all.flat()
}

/** Numbers of system calls on this architecture, as the C library's headers have them. */
async function numbersHere(): Promise<ReadonlyMap<string, number>> {
  const defined = await must(['cc', '-E', '-dM', '-include', 'sys/syscall.h', '-x', 'c', '/dev/null'])
  return new Map(
    [...defined.matchAll(/^#define __NR_(\w+) (\d+)$/gm)].map(([, name = '', number]) => [name, Number(number)]),
  )
}
