/**
 * A host name of a listener or route is exact, or a wildcard such as `*.example.com` for names with any number of
 * labels before `example.com`, or this empty text for all names.
 */
export const ANY_HOST = ''

const WILDCARD = '*.'
export const isWildcard = (host: string): boolean => host.startsWith(WILDCARD)
/** The domain of a wildcard: `example.com` for `*.example.com`. */
export const parentDomain = (host: string): string => host.slice(WILDCARD.length)

/** The names that both match; null for none. The result is always one of the two. */
export function intersection(one: string, other: string): string | null {
  if (one === ANY_HOST) return other
  if (other === ANY_HOST || one === other) return one
  if (isWildcard(one) && isBelow(other, parentDomain(one))) return other
  if (isWildcard(other) && isBelow(one, parentDomain(other))) return one
  return null
}

/** Whether all names of `host`, which may be a wildcard, are below the domain. */
const isBelow = (host: string, domain: string): boolean =>
  isWildcard(host) ? parentDomain(host).endsWith(`.${domain}`) : host.endsWith(`.${domain}`)

/**
 * The names that a route serves at a listener; null when they have none in common. A route without names takes the
 * listener's.
 */
export function hostsAt(listener: string, route: readonly string[]): readonly string[] | null {
  if (route.length === 0) return [listener]
  const hosts = [...new Set(route.flatMap((host) => intersection(listener, host.toLowerCase()) ?? []))]
  return hosts.length === 0 ? null : hosts
}

/**
 * The rank of a name in the API's order of precedence, compared number by number: exact names first, then wildcards
 * from the longest to the shortest, then all names. No request matches two different names of the same rank.
 */
export const hostRank = (host: string): readonly [kind: number, length: number] =>
  host === ANY_HOST ? [2, 0] : isWildcard(host) ? [1, -host.length] : [0, 0]

/** Sorts the more specific name first. */
export function bySpecificity(a: string, b: string): number {
  const [[kind, length], [otherKind, otherLength]] = [hostRank(a), hostRank(b)]
  return kind - otherKind || length - otherLength || (a < b ? -1 : a > b ? 1 : 0)
}

/**
 * Groups names that one condition can match: all exact names together, because a request has one name, and each
 * wildcard alone.
 */
export function byHostKind(hosts: readonly string[]): readonly (readonly string[])[] {
  const exact = hosts.filter((host) => host !== '' && !isWildcard(host)).sort(bySpecificity)
  const others = hosts.filter((host) => host === '' || isWildcard(host)).map((host) => [host])
  return exact.length === 0 ? others : [exact, ...others]
}
