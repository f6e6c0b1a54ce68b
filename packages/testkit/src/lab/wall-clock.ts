import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { writeProgram } from './program-file.ts'
import { must } from './run.ts'

const SOURCE = path.resolve(import.meta.dirname, 'wall-clock.c')

/**
 * A wall clock that can jump, only for the processes under test: a preloaded library shifts CLOCK_REALTIME as they read
 * it. The machine's own clock cannot be used, because other processes depend on it, and time namespaces shift only the
 * monotonic clocks. What the kernel does by wall-clock time (absolute timers, times of files) does not jump.
 */
export class WallClock implements Disposable {
  readonly #directory: string
  readonly #offsetFile: string
  /** Environment for a process that uses this clock; its children inherit it. */
  readonly env: Readonly<Record<string, string>>

  private constructor(directory: string, library: string, offsetFile: string) {
    this.#directory = directory
    this.#offsetFile = offsetFile
    this.env = { LD_PRELOAD: library, SPOUT_WALL_CLOCK: offsetFile }
  }

  /** A clock that is right until `set` is called. Compiles the library. */
  static async create(): Promise<WallClock> {
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-clock-'))
    // Daemons give up root and must still read it.
    chmodSync(directory, 0o755)
    const library = path.join(directory, 'wall-clock.so')
    await must(['cc', '-O2', '-shared', '-fPIC', '-o', library, SOURCE])
    const offsetFile = path.join(directory, 'offset')
    writeFileSync(offsetFile, Buffer.alloc(8))
    return new WallClock(directory, library, offsetFile)
  }

  /** Sets how far it is ahead of the machine's clock; behind when negative. */
  set(aheadMs: number): void {
    const offset = Buffer.alloc(8)
    offset.writeBigInt64LE(BigInt(aheadMs) * 1_000_000n)
    // In place, because processes have it mapped.
    writeFileSync(this.#offsetFile, offset, { flag: 'r+' })
  }

  /**
   * A wrapper that starts a program with this clock, for callers that pass no environment on. Same name as the program.
   */
  program(executable: string): string {
    const file = path.join(this.#directory, path.basename(executable))
    const words = Object.entries(this.env).map(([name, value]) => `${name}=${value}`)
    writeProgram(file, `#!/bin/sh\nexec env ${words.join(' ')} ${executable} "$@"\n`)
    return file
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
