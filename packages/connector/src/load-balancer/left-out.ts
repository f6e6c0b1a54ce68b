import type { Refused } from '@spout/client/native-api'
import type { Clock } from '@spout/runtime'
import type { ListenerContent, LoadBalancerContent } from '../content/content.ts'
import { hostAt, hostsOfRoute, withoutHosts } from '../content/route-hosts.ts'
import { reasonOf } from '../refusal.ts'

/**
 * Remembers the parts of load balancers that the control plane refused, with its reasons: members, DNS names, and hosts
 * of routes. They are left out of the content, so that one bad endpoint, name or host blocks neither the rest of its
 * object nor the other objects that share the load balancer.
 */
export class LeftOut {
  readonly #clock: Clock
  readonly #forMs: number
  /** Reasons by load balancer and by the key of the refused part. */
  readonly #ofDocument = new Map<string, Map<string, string>>()
  readonly #sinceMs = new Map<string, number>()
  #turns = 0

  /**
   * @param forMs how long refusals are remembered. After that the parts are tried again, because networks and routes
   * change
   */
  constructor(clock: Clock, forMs: number) {
    this.#clock = clock
    this.#forMs = forMs
  }

  /** Counts calls of `forgetAll`. A caller must not note the refusal of a call that began in an earlier turn. */
  get turn(): number {
    return this.#turns
  }

  /** The content without the members, names and hosts that were refused before. */
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

  /** Notes a refusal. @returns false when it is not about a member, name or host of this content */
  note(id: string, content: LoadBalancerContent, { field, fields, message }: Refused): boolean {
    const hosts = fields.flatMap((one) => hostAt(content, one) ?? [])
    const members = fields.flatMap((one) => memberAt(content, one) ?? [])
    const name = content.dnsNames?.[Number(/^dnsNames\[(\d+)\]/.exec(field ?? '')?.[1] ?? Number.NaN)]
    if (hosts.length === 0 && name === undefined && members.length === 0) return false
    const refused = this.#ofDocument.get(id) ?? new Map<string, string>()
    for (const host of hosts) refused.set(keyOfHost(host), whyNoHost(message))
    if (name !== undefined) refused.set(keyOfName(name), reasonOf(message))
    for (const key of members) refused.set(key, reasonOf(message))
    this.#ofDocument.set(id, refused)
    if (!this.#sinceMs.has(id)) this.#sinceMs.set(id, this.#clock.monotonicMs())
    return true
  }

  /** The refused members of one Service: their number, and one of the reasons; null when there are none. */
  of(id: string, serviceUid: string): { readonly count: number; readonly reason: string } | null {
    const own = [...(this.#ofDocument.get(id) ?? [])].filter(([key]) => key.startsWith(`${serviceUid}/`))
    return own[0] === undefined ? null : { count: own.length, reason: own[0][1] }
  }

  /** The first of these DNS names that was refused, and why; null when none was. */
  name(id: string, names: readonly string[]): { readonly name: string; readonly reason: string } | null {
    const refused = this.#ofDocument.get(id)
    const name = names.find((each) => refused?.has(keyOfName(each)))
    return name === undefined ? null : { name, reason: refused?.get(keyOfName(name)) ?? '' }
  }

  /**
   * The refused hosts, once for each object that names them.
   * @param whole the wanted content, before anything was left out
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

  /** Forgets the refusals of one load balancer. */
  forget(id: string): void {
    this.#ofDocument.delete(id)
    this.#sinceMs.delete(id)
  }

  /** Forgets all refusals. @returns ids of the load balancers that had some */
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
  /** UID of the object that the route was made of. Names of routes begin with it. */
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

/** The key of the member that a path of a content leads to; null for none. */
function memberAt({ pools }: LoadBalancerContent, field: string): string | null {
  const [, at, index] = /^pools\[(\d+)\]\.members\[(\d+)\]/.exec(field) ?? []
  const pool = pools[Number(at)]
  const member = pool?.members[Number(index)]
  return pool === undefined || member === undefined ? null : keyOf(pool.name, member)
}

/** The reason alone. The rest of the message names only the first refused host. */
const whyNoHost = (message: string): string => reasonOf(message).replace(/^.* may not name [^:]*: /, '')

const keyOfHost = (host: string): string => `host ${host}`
/** Never equal to the key of a member, which begins with the name of a pool. */
const keyOfName = (name: string): string => `name ${name}`
const keyOf = (pool: string, { address, port }: { readonly address: string; readonly port: number }): string =>
  `${pool} ${address} ${port}`
