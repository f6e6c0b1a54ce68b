import { styleText } from 'node:util'
import { printable } from '../../output/width.ts'
import type { Finding, Level } from './finding.ts'

const COLOUR = { error: 'red', warning: 'yellow', notice: 'cyan', ok: 'green' } as const satisfies Record<Level, string>
const WIDTH = Math.max(...Object.keys(COLOUR).map((level) => level.length))

/** A line for each finding, and below it what to do. */
export const findingsText = (findings: readonly Finding[], colour: boolean): string =>
  findings.map((finding) => textOf(finding, colour)).join('')

function textOf({ level, check, subject, message, fix }: Finding, colour: boolean): string {
  const word = colour ? styleText(COLOUR[level], level) : level
  const margin = ' '.repeat(WIDTH - level.length)
  const where = subject === null ? check : `${check}: ${printable(subject)}`
  const first = `${word}${margin}  ${where}: ${printable(message)}\n`
  return fix === null ? first : `${first}${' '.repeat(WIDTH + 2)}${printable(fix)}\n`
}
