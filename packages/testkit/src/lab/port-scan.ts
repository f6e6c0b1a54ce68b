import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lab } from './lab.ts'
import { must } from './run.ts'

const SOURCE = path.resolve(import.meta.dirname, 'port-scan.c')

/** Which ports: from 1 to `last`, and those of `also`. */
export interface ScannedPorts {
  readonly last: number
  readonly also: readonly number[]
}

/** Answers of TCP ports of an address. */
export interface PortScan {
  /** Ports that accepted a connection. */
  readonly open: readonly number[]
  /** How many refused, and how many did not answer. */
  readonly closed: number
  readonly silent: number
}

/** Scans TCP ports of an address; all of one that does not answer take a second or two. Compiles its program. */
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

  /** Scans from a place of the lab. @throws Error when that place has no route to the address */
  async scan(lab: Lab, place: string, address: string, { last, also }: ScannedPorts): Promise<PortScan> {
    const lines = (await lab.must(place, [this.#program, address, ...[last, ...also].map(String)])).trim().split('\n')
    const [, closed = '', silent = ''] = /^closed (\d+) silent (\d+)$/.exec(lines.at(-1) ?? '') ?? []
    return { open: lines.slice(0, -1).map(Number), closed: Number(closed), silent: Number(silent) }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
