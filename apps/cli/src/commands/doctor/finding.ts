/** `error`: traffic is lost, or the next failure loses it. `warning`: it will be, unless somebody acts. */
export type Level = 'error' | 'warning' | 'notice' | 'ok'

/** One result of a check. */
export interface Finding {
  readonly level: Level
  /** The name of the check: `nodes`, `routers`. */
  readonly check: string
  /** The object that it is about; null for the installation as a whole. */
  readonly subject: string | null
  /** A full sentence. */
  readonly message: string
  /** What to do about it; null where there is nothing to do. */
  readonly fix: string | null
}

const WORST_FIRST: readonly Level[] = ['error', 'warning', 'notice', 'ok']

/** What is worst first; findings of one level keep their order. */
export const sorted = (findings: readonly Finding[]): readonly Finding[] =>
  [...findings].sort((a, b) => WORST_FIRST.indexOf(a.level) - WORST_FIRST.indexOf(b.level))

/** Whether somebody has to act. */
export const needsAction = ({ level }: Finding): boolean => level === 'error' || level === 'warning'

/** The section of the runbook that says how to find the cause. */
export const runbook = (heading: string): string => `docs/runbook.md, "${heading}"`
