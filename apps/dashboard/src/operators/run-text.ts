import type { Run } from './pool-runs.ts'

/** Who has the addresses of a run. */
export function holderText({ state, projectId, use }: Run, projects: ReadonlyMap<string, string>): string {
  if (state === 'free') return 'nobody'
  return projectId === null ? `Spout itself (${use})` : (projects.get(projectId) ?? projectId)
}

/** What a run is, in one line: `198.51.100.17 – 198.51.100.18: taken by shop`. */
export function runText(run: Run, projects: ReadonlyMap<string, string>): string {
  const { first, last, state } = run
  const addresses = first === last ? first : `${first} – ${last}`
  if (state === 'free') return `${addresses}: free`
  return `${addresses}: ${state === 'taken' ? 'taken by' : 'rests, was of'} ${holderText(run, projects)}`
}
