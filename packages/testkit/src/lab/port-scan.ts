import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lab } from './lab.ts'
import { must } from './run.ts'

const SOURCE = path.resolve(import.meta.dirname, 'port-scan.c')

/** What the TCP ports 1 to 65535 of an address answer. */
export interface PortScan {
  /** Ports that took a connection. */
  readonly open: readonly number[]
  /** How many refused, and how many answered nothing. */
  readonly closed: number
  readonly silent: number
}

/** Asks every TCP port of an address, a second or two for each address that answers nothing. Compiles its program. */
export class PortScanner implements Disposable {
  readonly #directory: string
  readonly #program: string

  private constructor(directory: string, program: string) {
    this.#directory = directory
    this.#program = program
  }

  static async create(): Promise<PortScanner> {
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-scan-'))
    const program = path.join(directory, 'port-scan')
    await must(['cc', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program, SOURCE])
    return new PortScanner(directory, program)
  }

  /** From a place of the lab. @throws Error when that place has no way there at all */
  async scan(lab: Lab, place: string, address: string): Promise<PortScan> {
    const lines = (await lab.must(place, [this.#program, address])).trim().split('\n')
    const [, closed = '', silent = ''] = /^closed (\d+) silent (\d+)$/.exec(lines.at(-1) ?? '') ?? []
    return { open: lines.slice(0, -1).map(Number), closed: Number(closed), silent: Number(silent) }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
