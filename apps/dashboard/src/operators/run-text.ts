import type { PoolUsage } from '@spout/model'
import type { AddressState, Run } from './pool-runs.ts'

export const STATE_WORDS: Readonly<Record<AddressState, string>> = {
  free: 'free',
  taken: 'taken',
  resting: 'rests',
  excluded: 'never given out',
}

/** Who has the addresses of a run. */
export function holderText({ state, projectId, use }: Run, projects: ReadonlyMap<string, string>): string {
  if (state === 'free' || state === 'excluded') return 'nobody'
  return projectId === null ? `Spout itself (${use})` : (projects.get(projectId) ?? projectId)
}

/** What a run is, in one line: `198.51.100.17 – 198.51.100.18: taken by shop`. */
export function runText(run: Run, projects: ReadonlyMap<string, string>): string {
  const { first, last, state } = run
  const addresses = first === last ? first : `${first} – ${last}`
  if (state === 'free' || state === 'excluded') return `${addresses}: ${STATE_WORDS[state]}`
  return `${addresses}: ${state === 'taken' ? 'taken by' : 'rests, was of'} ${holderText(run, projects)}`
}

type Counts = Pick<PoolUsage, 'total' | 'free' | 'taken' | 'resting'>

/** How many addresses of a pool are free and taken. The server leaves out how many there are for tenants alone. */
export function countsText({ total, free, taken, resting }: Counts): string {
  const counts = `${(free ?? 0).toLocaleString()} of ${(total ?? 0).toLocaleString()} free, ${taken.toLocaleString()} taken`
  return resting === 0 ? counts : `${counts}, ${resting.toLocaleString()} resting`
}
