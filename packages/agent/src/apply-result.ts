import type { Applied, DataPlaneDriver, EntryFollower, WantedEntry } from '@spout/dataplane'
import type { DomainEntry } from '@spout/model/node-state'
import type { Domains } from './domains.ts'
import type { DriverChoice } from './driver-choice.ts'

/** Why an operation failed: a reason code, and the system's error text. */
export interface Failure {
  readonly reason: string
  readonly message: string
}

/** Errors whose names say more than which operation failed. */
const OWN_REASONS: readonly string[] = ['HelperLost', 'DriverAway', 'FabricMissing']

export const failureOf = (reason: string, error: unknown): Failure => ({
  reason: error instanceof Error && OWN_REASONS.includes(error.name) ? error.name : reason,
  message: error instanceof Error ? error.message : String(error),
})

/** The failures of an `apply`, by key. */
const failuresIn = (applied: readonly Applied[]): ReadonlyMap<string, Failure> =>
  new Map(
    applied.flatMap(({ key, state, reason, message }) =>
      state === 'failed'
        ? [[key, { reason: reason ?? 'Failed', message: message ?? 'no reason was given' }] as const]
        : [],
    ),
  )

/** @returns failures by key. If the call as a whole fails, all keys in it fail. */
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

/** The parts of a node that follow load-balancer entries. */
export interface EntryParts {
  /** Applied before the drivers, which use what they provide. */
  readonly preparers: readonly EntryFollower[]
  readonly choice: DriverChoice
  readonly followers: readonly EntryFollower[]
}

/**
 * Applies a change with the preparers, the drivers and then the followers, in order. A driver gets the entries that it
 * was chosen for, with the proxy ports of the drivers before it. It removes the others, since it may have carried them
 * before. A follower gets all entries. An entry that fails is not given to later parts. If a call throws, all entries
 * in it fail, and no others.
 * @returns the first failure by key; other keys succeeded
 */
export async function applyEntries(
  { choice, preparers, followers }: EntryParts,
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
  for (const preparer of preparers)
    await apply(
      preparer,
      entries.filter(({ key }) => isGoing(key)),
      changes.remove,
    )
  for (const driver of choice.drivers) {
    const going = failures.size === 0 ? entries : entries.filter(({ key }) => isGoing(key))
    const own = going.filter((wanted) => choice.of(wanted).drivers.has(driver))
    const others = own.length === going.length ? [] : going.filter((wanted) => !choice.of(wanted).drivers.has(driver))
    await apply(driver, own, [...changes.remove.filter(isGoing), ...others.map(({ key }) => key)])
    entries = withProxyPorts(choice, driver, entries)
  }
  for (const follower of followers)
    await apply(
      follower,
      entries.filter(({ key }) => isGoing(key)),
      changes.remove.filter(isGoing),
    )
  return failures
}

/**
 * Adds the proxy ports of one driver to the entries that it carries. Entries without proxy ports stay the same objects.
 */
export const withProxyPorts = (
  choice: DriverChoice,
  driver: DataPlaneDriver,
  entries: readonly WantedEntry[],
): readonly WantedEntry[] =>
  driver.proxyPorts === undefined
    ? entries
    : entries.map((wanted) => {
        if (!choice.of(wanted).drivers.has(driver)) return wanted
        const proxyPorts = driver.proxyPorts?.(wanted.entry) ?? new Map()
        return proxyPorts.size === 0
          ? wanted
          : { ...wanted, proxyPorts: new Map([...(wanted.proxyPorts ?? []), ...proxyPorts]) }
      })
