import { stringify } from 'yaml'
import type { Finding } from './finding.ts'
import { findingsText } from './findings-text.ts'

export const FINDING_FORMATS = ['text', 'json', 'yaml'] as const
export type FindingFormat = (typeof FINDING_FORMATS)[number]

export interface Writing {
  readonly format: FindingFormat
  /** Also what is right. */
  readonly all: boolean
  readonly colour: boolean
}

/** Findings as `doctor` prints them. */
export function writtenFindings(findings: readonly Finding[], { format, all, colour }: Writing): string {
  const shown = findings.filter(({ level }) => all || level !== 'ok')
  if (format === 'json') return `${JSON.stringify(shown, null, 2)}\n`
  if (format === 'yaml') return stringify(shown)
  return shown.length === 0 ? 'Nothing to do.\n' : findingsText(shown, colour)
}
