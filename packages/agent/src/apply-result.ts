import type { Applied, DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import type { DomainEntry } from '@spout/model/node-state'
import type { Domains } from './domains.ts'

/** Why something could not be done: a word for machines and the system's own words. */
export interface Failure {
  readonly reason: string
  readonly message: string
}

export const failureOf = (reason: string, error: unknown): Failure => ({
  reason: error instanceof Error && error.name === 'HelperLost' ? 'HelperLost' : reason,
  message: error instanceof Error ? error.message : String(error),
})

/** What failed of an `apply`, by key. */
const failuresIn = (applied: readonly Applied[]): ReadonlyMap<string, Failure> =>
  new Map(
    applied.flatMap(({ key, state, reason, message }) =>
      state === 'failed'
        ? [[key, { reason: reason ?? 'Failed', message: message ?? 'no reason was given' }] as const]
        : [],
    ),
  )

/** @returns the failures by key; when the call as a whole failed, of every key it was given */
export async function applyToDomains(
  domains: Domains,
  changes: { readonly put: readonly DomainEntry[]; readonly remove: readonly string[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Failure>> {
  try {
    return failuresIn(await domains.apply(changes, signal))
  } catch (error) {
    const failure = failureOf('DomainFailed', error)
    return new Map([...changes.put.map(({ key }) => key), ...changes.remove].map((key) => [key, failure]))
  }
}

/**
 * Lets every driver do its part, in their order: a later one may build on what an earlier one did. An entry that one
 * refuses is not given to those after it; a driver that throws fails every entry it was given, and no other.
 * @returns the first failure by key; keys that are missing were done
 */
export async function applyToDrivers(
  drivers: readonly DataPlaneDriver[],
  changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Failure>> {
  const failures = new Map<string, Failure>()
  for (const driver of drivers) {
    const put = failures.size === 0 ? changes.put : changes.put.filter(({ key }) => !failures.has(key))
    const remove = failures.size === 0 ? changes.remove : changes.remove.filter((key) => !failures.has(key))
    if (put.length + remove.length === 0) break
    try {
      for (const [key, failure] of failuresIn(await driver.apply({ put, remove }, signal))) failures.set(key, failure)
    } catch (error) {
      const failure = failureOf('DriverFailed', error)
      for (const key of [...put.map((wanted) => wanted.key), ...remove]) failures.set(key, failure)
    }
  }
  return failures
}
