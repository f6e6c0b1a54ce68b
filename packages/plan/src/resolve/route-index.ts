import { type Cidr, cidrContains, cidrsOverlap, type Ip, parseCidr } from '@spout/net'

interface Indexed<T> {
  readonly route: T
  readonly cidr: Cidr
}

/**
 * An index of routes by destination. A lookup is a binary search. Routes do not overlap, so only the last one that
 * begins at or before an address can contain it.
 */
export class RouteIndex<T extends { readonly to: string }> {
  /** Ascending, IPv4 first. */
  readonly #sorted: readonly Indexed<T>[]

  constructor(routes: readonly T[]) {
    this.#sorted = routes.map((route) => ({ route, cidr: parseCidr(route.to) })).sort((a, b) => compare(a.cidr, b.cidr))
  }

  /** The route that contains the address; null if none does. */
  find(ip: Ip): T | null {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const { cidr } = this.#sorted[middle]!
      if (cidr.version < ip.version || (cidr.version === ip.version && cidr.base <= ip.value)) low = middle + 1
      else high = middle
    }
    const found = this.#sorted[low - 1]
    return found !== undefined && cidrContains(found.cidr, ip) ? found.route : null
  }

  /**
   * Two routes that overlap; null if there are none. If a prefix contains others, it contains the next one in order.
   */
  overlap(): readonly [T, T] | null {
    for (const [at, { route, cidr }] of this.#sorted.entries()) {
      const next = this.#sorted[at + 1]
      if (next !== undefined && cidrsOverlap(cidr, next.cidr)) return [route, next.route]
    }
    return null
  }
}

function compare(a: Cidr, b: Cidr): number {
  if (a.version !== b.version) return a.version - b.version
  return a.base === b.base ? a.prefix - b.prefix : a.base < b.base ? -1 : 1
}
