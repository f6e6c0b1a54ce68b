import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { LONG_TESTS } from './long-tests.ts'

/** The result of a fault test: a line of the table that `./dev test` prints. */
export interface FaultFigure {
  /** The fault, beginning with the affected part: `vrrp: link flaps`. Lines are sorted by it. */
  readonly fault: string
  /** What happened. */
  readonly outcome: string
  /** Measured, with its unit: `gap 93 ms`, `1 move in 10 flaps`. */
  readonly figure: string
  /** What a run with SPOUT_LONG_TESTS=1 does in full, where the test is short without: `100 kills`. */
  readonly whole?: string
}

/** Environment variable: the directory in which a run collects figures. */
export const FIGURES_VARIABLE = 'SPOUT_TEST_FIGURES'

/**
 * Records the result of a test, after its expectations hold. Each record is a file of its own, because tests run in
 * several processes and threads. Without a run that collects them it does nothing.
 */
export function recordFault({ whole, ...figure }: FaultFigure): void {
  const directory = process.env[FIGURES_VARIABLE]
  if (directory === undefined || directory === '') return
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    path.join(directory, `${randomUUID()}.json`),
    JSON.stringify(LONG_TESTS ? figure : { ...figure, whole }),
  )
}

/** All records of a directory, sorted; empty when there are none. */
export function readFaults(directory: string): readonly FaultFigure[] {
  let names: readonly string[] = []
  try {
    names = readdirSync(directory)
  } catch {
    return []
  }
  return names
    .map((name) => JSON.parse(readFileSync(path.join(directory, name), 'utf8')) as FaultFigure)
    .sort((a, b) => (lineOf(a) < lineOf(b) ? -1 : 1))
}

/** The table as text, one line per fault; empty when there are none. */
export function faultTable(figures: readonly FaultFigure[]): string {
  if (figures.length === 0) return ''
  const rows = [['fault', 'what happened', 'figure'], ...figures.map(cellsOf)]
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

const cellsOf = ({ fault, outcome, figure, whole }: FaultFigure): readonly string[] => [
  fault,
  outcome,
  whole === undefined ? figure : `${figure} (SPOUT_LONG_TESTS=1: ${whole})`,
]

/** Milliseconds since `startedMs` of `performance.now()`, as a figure shows them. */
export const msSince = (startedMs: number): string => `${Math.round(performance.now() - startedMs)} ms`

const lineOf = ({ fault, outcome }: FaultFigure): string => `${fault}\0${outcome}`
