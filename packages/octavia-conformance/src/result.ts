/** The result of one check. */
export interface Result {
  /** Such as `listeners`. */
  readonly group: string
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped; null for one that passed. */
  readonly reason: string | null
}

/** A check did not find what it expects; the message says what it found. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** A check cannot be made here; the message says why. */
export class CheckSkipped extends Error {
  override readonly name = 'CheckSkipped'
}

const WORDS = ['passed', 'failed', 'skipped'] as const

/** One line for each check, then how many passed, failed and were skipped. */
export function report(results: readonly Result[]): string {
  const width = Math.max(0, ...results.map(({ group }) => group.length))
  const lines = results.map(
    ({ group, name, outcome, reason }) =>
      `${outcome.padEnd(7)}  ${group.padEnd(width)}  ${name}${reason === null ? '' : `: ${reason}`}`,
  )
  const counts = WORDS.map((word) => `${results.filter(({ outcome }) => outcome === word).length} ${word}`)
  return [...lines, counts.join(', ')].join('\n')
}
