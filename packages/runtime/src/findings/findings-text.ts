import { styleText } from 'node:util'
import type { Finding, Level } from './finding.ts'
import { printable } from './printable.ts'

const COLOUR = { error: 'red', warning: 'yellow', notice: 'cyan', ok: 'green' } as const satisfies Record<Level, string>
const WIDTH = Math.max(...Object.keys(COLOUR).map((level) => level.length))

/** A line for each finding; below it what follows from it, and what to do. */
export const findingsText = (findings: readonly Finding[], colour: boolean): string =>
  findings.map((finding) => textOf(finding, colour)).join('')

function textOf({ level, check, subject, code, message, why, fix }: Finding, colour: boolean): string {
  const word = colour ? styleText(COLOUR[level], level) : level
  const margin = ' '.repeat(WIDTH - level.length)
  const where = subject === null ? check : `${check}: ${printable(subject)}`
  const below = [why, fix].filter((line) => line !== undefined && line !== null)
  const lines = below.map((line) => `${' '.repeat(WIDTH + 2)}${printable(line)}\n`)
  const named = code === undefined ? message : `${message} (${code})`
  return `${word}${margin}  ${where}: ${printable(named)}\n${lines.join('')}`
}
