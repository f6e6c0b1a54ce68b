import { ask } from './ask.ts'

/** Something that an operator should look at. */
export interface ShownProblem {
  /** `error`: traffic is lost, or the next failure loses it. */
  readonly level: 'error' | 'warning'
  /** As in the runbook's table of symptoms. */
  readonly code: string
  readonly object: {
    readonly kind: 'node' | 'nodeGroup' | 'loadBalancer' | 'addressPool'
    readonly id: string
    readonly name: string
  }
  readonly message: string
  /** The anchor of its section of the runbook; null where there is none. */
  readonly runbook: string | null
}

/** What an operator should look at now, the worst first. */
export const listProblems = async (signal: AbortSignal): Promise<readonly ShownProblem[]> =>
  (await ask<{ readonly items: readonly ShownProblem[] }>('GET', '/problems', { signal })).items
