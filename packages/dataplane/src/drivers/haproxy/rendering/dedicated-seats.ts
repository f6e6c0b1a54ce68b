import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import type { ProxyLimits, ProxyPlace } from '../place/proxy-place.ts'
import type { HaproxyOptions } from '../sections/options.ts'
import { SlotsExhausted } from '../sections/slot-table.ts'
import type { RenderedEntry } from './render.ts'
import { bufferFor } from './request-sizes.ts'

/**
 * All proxies of a domain listen on the same addresses, so each dedicated one has ports of its own: below those of the
 * shared proxy, which are below those of the domain's connections to members (`OWN_PORTS`).
 */
const FIRST_PORT = 4_096
/** Ports of a seat, and most frontends of a dedicated proxy. */
const PORTS = 256
/** Dedicated proxies of one domain at most. */
export const MOST_SEATS = 62

const NAME = /^(?<domain>.+)-p(?<seat>\d{1,2})-(?<owner>[0-9a-f]{12})$/

/**
 * The ports of the dedicated proxies of each domain. A proxy's name contains its seat, so the next agent learns the
 * seats of running proxies from their directories.
 */
export class DedicatedSeats {
  /** Name of the domain's shared proxy -> owner -> seat. */
  readonly #taken = new Map<string, Map<string, number>>()
  #learned: Promise<void> | null = null

  /** Reads the seats of proxies that an earlier agent left, once. */
  learn(runDirectory: string): Promise<void> {
    this.#learned ??= readdir(runDirectory).then(
      (names) => {
        for (const name of names) this.#note(name)
      },
      // The directory does not exist before the first proxy.
      () => {},
    )
    return this.#learned
  }

  /**
   * The place of a load balancer's own proxy; it stays the same until `free`.
   * @param shared the place of the domain's shared proxy
   * @throws SlotsExhausted
   */
  take(shared: ProxyPlace, loadBalancerId: string, limits: ProxyLimits): ProxyPlace {
    const taken = this.#of(shared.name)
    const owner = ownerOf(loadBalancerId)
    const seat = taken.get(owner) ?? lowestFree(new Set(taken.values()))
    taken.set(owner, seat)
    return { ...shared, name: `${shared.name}-p${seat}-${owner}`, dedicated: { loadBalancerId, seat, limits } }
  }

  free(name: string): void {
    const { domain = '', owner = '' } = NAME.exec(name)?.groups ?? {}
    this.#taken.get(domain)?.delete(owner)
  }

  /** Frees the seats of all proxies but these. */
  keep(names: ReadonlySet<string>): void {
    this.#taken.clear()
    for (const name of names) this.#note(name)
  }

  #note(name: string): void {
    const { domain, seat, owner } = NAME.exec(name)?.groups ?? {}
    if (domain !== undefined && seat !== undefined && owner !== undefined) this.#of(domain).set(owner, Number(seat))
  }

  #of(domain: string): Map<string, number> {
    const taken = this.#taken.get(domain) ?? new Map<string, number>()
    this.#taken.set(domain, taken)
    return taken
  }
}

/** The options of a proxy in its place: a dedicated one has ports of its own, and may have other limits. */
export function optionsIn({ dedicated }: ProxyPlace, options: HaproxyOptions): HaproxyOptions {
  if (dedicated === undefined) return options
  const { seat, limits } = dedicated
  return {
    ...options,
    firstPort: FIRST_PORT + seat * PORTS,
    mostFrontends: PORTS,
    maxConnections: limits.connections ?? options.maxConnections,
    bufferBytes: Math.max(options.bufferBytes, limits.headerBytes === undefined ? 0 : bufferFor(limits.headerBytes)),
  }
}

/** Names the proxy that carries an entry: that of its domain, or its own. */
export const proxyNameOf = ({
  domain,
  loadBalancerId,
  dedicatedProxy,
}: Pick<RenderedEntry, 'domain' | 'loadBalancerId' | 'dedicatedProxy'>): string =>
  dedicatedProxy === undefined ? sharedProxyName(domain) : `${domain}/${loadBalancerId}`

export const sharedProxyName = (domain: number): string => String(domain)

/** Short, since paths of sockets have it. */
const ownerOf = (loadBalancerId: string): string =>
  createHash('sha256').update(loadBalancerId).digest('hex').slice(0, 12)

function lowestFree(taken: ReadonlySet<number>): number {
  for (let seat = 0; seat < MOST_SEATS; seat++) if (!taken.has(seat)) return seat
  throw new SlotsExhausted(`the network has ${MOST_SEATS} dedicated proxies on this node, which is the most`)
}
