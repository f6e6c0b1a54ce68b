import type { Refused } from '@spout/client/native-api'
import type { Clock } from '@spout/runtime'
import type { ListenerContent, LoadBalancerContent } from '../content/content.ts'
import { hostAt, hostsOfRoute, withoutHosts } from '../content/route-hosts.ts'
import { reasonOf } from '../refusal.ts'

/**
 * Members that the control plane refused, by pool and endpoint, with its reason. EndpointSlices can be written by hand:
 * one bad endpoint must stop neither the other endpoints nor the other Services of a shared address. Nor must a name that
 * the project may not have, nor a host that its routes may not name.
 */
export class LeftOut {
  readonly #clock: Clock
  readonly #forMs: number
  readonly #ofDocument = new Map<string, Map<string, string>>()
  readonly #sinceMs = new Map<string, number>()
  #turns = 0

  /** @param forMs how long a refusal is remembered: networks and routes change */
  constructor(clock: Clock, forMs: number) {
    this.#clock = clock
    this.#forMs = forMs
  }

  /** Grows whenever everything is forgotten. A refusal that arrives for an earlier value is not recorded. */
  get turn(): number {
    return this.#turns
  }

  /** The content without members and names that were refused before. */
  apply(id: string, content: LoadBalancerContent): LoadBalancerContent {
    if (this.#clock.monotonicMs() - (this.#sinceMs.get(id) ?? 0) >= this.#forMs) this.forget(id)
    const refused = this.#ofDocument.get(id)
    if (refused === undefined) return content
    const { dnsNames, ...rest } = content
    const names = dnsNames?.filter((name) => !refused.has(keyOfName(name))) ?? []
    const { dnsTtlSeconds: _, ...nameless } = rest
    return {
      ...(names.length > 0 ? { ...rest, dnsNames: names } : nameless),
      listeners: content.listeners.map((listener) => withoutRefusedHosts(listener, refused)),
      pools: content.pools.map((pool) => ({
        ...pool,
        members: pool.members.filter((member) => !refused.has(keyOf(pool.name, member))),
      })),
    }
  }

  /** @returns false when the refusal is not about a member, name or host of this content */
  note(id: string, content: LoadBalancerContent, { field, fields, message }: Refused): boolean {
    const hosts = fields.flatMap((one) => hostAt(content, one) ?? [])
    const match = /^pools\[(\d+)\]\.members\[(\d+)\]/.exec(field ?? '')
    const pool = content.pools[Number(match?.[1] ?? Number.NaN)]
    const member = pool?.members[Number(match?.[2] ?? Number.NaN)]
    const name = content.dnsNames?.[Number(/^dnsNames\[(\d+)\]/.exec(field ?? '')?.[1] ?? Number.NaN)]
    if (hosts.length === 0 && name === undefined && (pool === undefined || member === undefined)) return false
    const refused = this.#ofDocument.get(id) ?? new Map<string, string>()
    for (const host of hosts) refused.set(keyOfHost(host), whyNoHost(message))
    if (name !== undefined) refused.set(keyOfName(name), reasonOf(message))
    else if (pool !== undefined && member !== undefined) refused.set(keyOf(pool.name, member), reasonOf(message))
    this.#ofDocument.set(id, refused)
    if (!this.#sinceMs.has(id)) this.#sinceMs.set(id, this.#clock.monotonicMs())
    return true
  }

  /** The members of one Service that were refused: their number, and one reason. */
  of(id: string, serviceUid: string): { readonly count: number; readonly reason: string } | null {
    const own = [...(this.#ofDocument.get(id) ?? [])].filter(([key]) => key.startsWith(`${serviceUid}/`))
    return own[0] === undefined ? null : { count: own.length, reason: own[0][1] }
  }

  /** A name that was refused, and why; null for none of these. */
  name(id: string, names: readonly string[]): { readonly name: string; readonly reason: string } | null {
    const refused = this.#ofDocument.get(id)
    const name = names.find((each) => refused?.has(keyOfName(each)))
    return name === undefined ? null : { name, reason: refused?.get(keyOfName(name)) ?? '' }
  }

  /**
   * The hosts that were refused, and why, once for each object that names them.
   * @param whole the content as it was wanted
   */
  hosts(id: string, whole: LoadBalancerContent): readonly RefusedHost[] {
    const refused = this.#ofDocument.get(id)
    if (refused === undefined) return []
    const found = new Map<string, RefusedHost>()
    for (const { routes = [] } of whole.listeners)
      for (const route of routes)
        for (const host of hostsOfRoute(route)) {
          const reason = refused.get(keyOfHost(host))
          const [uid = ''] = route.name.split('/', 1)
          const key = `${uid} ${host}`
          if (reason !== undefined && !found.has(key)) found.set(key, { uid, host, reason, route: route.name })
        }
    return [...found.values()]
  }

  has(id: string): boolean {
    return this.#ofDocument.has(id)
  }

  /** Forgets refusals that may no longer hold. */
  forget(id: string): void {
    this.#ofDocument.delete(id)
    this.#sinceMs.delete(id)
  }

  forgetAll(): readonly string[] {
    this.#turns++
    const ids = [...this.#ofDocument.keys()]
    this.#ofDocument.clear()
    this.#sinceMs.clear()
    return ids
  }
}

/** A host that routes of the project may not name. */
export interface RefusedHost {
  /** UID of the object that the route was made of: names of routes begin with it. */
  readonly uid: string
  /** A wildcard begins with `*.`. */
  readonly host: string
  readonly reason: string
  /** The first route that names it. */
  readonly route: string
}

const withoutRefusedHosts = (listener: ListenerContent, refused: ReadonlyMap<string, string>): ListenerContent =>
  listener.routes === undefined
    ? listener
    : { ...listener, routes: withoutHosts(listener.routes, (host) => refused.has(keyOfHost(host))) }

/** The reason without the rest of the message, which names the host that was refused first. */
const whyNoHost = (message: string): string => reasonOf(message).replace(/^.* may not name [^:]*: /, '')

const keyOfHost = (host: string): string => `host ${host}`
/** No member's key: a pool's name begins with the id of its object. */
const keyOfName = (name: string): string => `name ${name}`
const keyOf = (pool: string, { address, port }: { readonly address: string; readonly port: number }): string =>
  `${pool} ${address} ${port}`
