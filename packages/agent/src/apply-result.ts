import type { Applied, DataPlaneDriver, EntryFollower, WantedEntry } from '@spout/dataplane'
import type { DomainEntry } from '@spout/model/node-state'
import type { Domains } from './domains.ts'
import type { DriverChoice } from './driver-choice.ts'

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
 * Lets drivers and then followers do their part, in their order. A driver is given the entries that it was chosen for, with
 * the proxy ports of drivers before it, and told to remove the others: an entry may have been its own before. A follower is given
 * them all. An entry that one refuses is not given to those after it; one that throws fails every entry it was given, and
 * no other.
 * @returns the first failure by key; keys that are missing were done
 */
export async function applyEntries(
  choice: DriverChoice,
  followers: readonly EntryFollower[],
  changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Failure>> {
  const failures = new Map<string, Failure>()
  const isGoing = (key: string): boolean => !failures.has(key)
  for (const { key, missing } of changes.put.map((wanted) => ({ key: wanted.key, ...choice.of(wanted) })))
    if (missing !== null)
      failures.set(key, { reason: 'FeatureUnavailable', message: `no driver of this node offers ${missing}` })
  let entries = changes.put
  const apply = async (part: EntryFollower, put: readonly WantedEntry[], remove: readonly string[]) => {
    if (put.length + remove.length === 0) return
    try {
      for (const [key, failure] of failuresIn(await part.apply({ put, remove }, signal))) failures.set(key, failure)
    } catch (error) {
      const failure = failureOf('DriverFailed', error)
      for (const key of [...put.map((wanted) => wanted.key), ...remove]) failures.set(key, failure)
    }
  }
  for (const driver of choice.drivers) {
    const going = failures.size === 0 ? entries : entries.filter(({ key }) => isGoing(key))
    const own = going.filter((wanted) => choice.of(wanted).drivers.has(driver))
    const others = own.length === going.length ? [] : going.filter((wanted) => !choice.of(wanted).drivers.has(driver))
    await apply(driver, own, [...changes.remove.filter(isGoing), ...others.map(({ key }) => key)])
    entries = withProxyPorts(driver, entries)
  }
  for (const follower of followers)
    await apply(
      follower,
      entries.filter(({ key }) => isGoing(key)),
      changes.remove.filter(isGoing),
    )
  return failures
}

/** The same entries with the proxy ports of one more driver; those that it has none for are the very same objects. */
export const withProxyPorts = (driver: DataPlaneDriver, entries: readonly WantedEntry[]): readonly WantedEntry[] =>
  driver.proxyPorts === undefined
    ? entries
    : entries.map((wanted) => {
        const proxyPorts = driver.proxyPorts?.(wanted.entry) ?? new Map()
        return proxyPorts.size === 0
          ? wanted
          : { ...wanted, proxyPorts: new Map([...(wanted.proxyPorts ?? []), ...proxyPorts]) }
      })
