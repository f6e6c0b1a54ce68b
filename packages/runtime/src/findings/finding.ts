/** `error`: traffic is lost, or the next failure loses it. `warning`: it will be, unless somebody acts. */
export type Level = 'error' | 'warning' | 'notice' | 'ok'

/** One result of a check. */
export interface Finding {
  readonly level: Level
  /** The name of the check: `nodes`, `routers`. */
  readonly check: string
  /** The object that it is about; null for the whole that was looked at. */
  readonly subject: string | null
  /** Its name in the reference; only of findings that have one. */
  readonly code?: string
  /** A full sentence. */
  readonly message: string
  /** What follows from it, where the message does not say so. */
  readonly why?: string
  /** What to do about it; null where there is nothing to do. */
  readonly fix: string | null
}

const WORST_FIRST: readonly Level[] = ['error', 'warning', 'notice', 'ok']

/** What is worst first; findings of one level keep their order. */
export const sorted = (findings: readonly Finding[]): readonly Finding[] =>
  [...findings].sort((a, b) => WORST_FIRST.indexOf(a.level) - WORST_FIRST.indexOf(b.level))

/** Whether somebody has to act. */
const needsAction = ({ level }: Finding): boolean => level === 'error' || level === 'warning'

/** Says how many findings need somebody; null where none does. */
export function needOf(findings: readonly Finding[]): string | null {
  const count = findings.filter(needsAction).length
  if (count === 0) return null
  return count === 1 ? '1 finding needs you' : `${count} findings need you`
}

/** The section of the runbook that says how to find the cause. */
export const runbook = (heading: string): string => `docs/runbook.md, "${heading}"`
