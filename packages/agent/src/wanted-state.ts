import type { StateLine } from '@spout/client/agent-link'
import { edited } from '@spout/model/edits'
import { isLoadBalancerKey } from '@spout/model/entry-keys'
import { NODE_STATE_VERSION, type NodeStateEntry } from '@spout/model/node-state'

export interface Held {
  readonly hash: string
  readonly entry: NodeStateEntry
}

/** The entries that the control plane wants on this node, from the lines of the state stream. */
export class WantedState {
  readonly #entries = new Map<string, Held>()
  /** domain number -> keys of the load balancers in it */
  readonly #inDomain = new Map<number, Set<string>>()
  /** Keys that the stream has named since it began; null once it is synced. */
  #named: Set<string> | null = null
  #complete = false

  /** Whether a full set has arrived since the agent started. */
  get complete(): boolean {
    return this.#complete
  }

  get(key: string): Held | undefined {
    return this.#entries.get(key)
  }

  get entries(): ReadonlyMap<string, Held> {
    return this.#entries
  }

  /** Counts the wanted load balancers. */
  get loadBalancers(): number {
    let count = 0
    for (const keys of this.#inDomain.values()) count += keys.size
    return count
  }

  inDomain(number: number): Iterable<string> {
    return this.#inDomain.get(number) ?? []
  }

  /** Call when a stream begins. Entries that it has not named stay wanted until its `synced`. */
  begin(): void {
    this.#named = new Set()
  }

  /**
   * @returns keys whose wanted entry changed or is removed, and keys of edits of versions that this node does not have
   */
  take(lines: readonly StateLine[]): { readonly changed: ReadonlySet<string>; readonly unknown: readonly string[] } {
    const changed = new Set<string>()
    const unknown: string[] = []
    for (const line of lines) {
      if (line.type === 'put') {
        this.#named?.add(line.entry.key)
        if (this.put(line.entry.key, line)) changed.add(line.entry.key)
      } else if (line.type === 'edit') {
        const before = this.#entries.get(line.key)
        if (before?.hash !== line.from) unknown.push(line.key)
        else {
          const entry = edited(before.entry, line.edits) as NodeStateEntry
          if (this.put(line.key, { hash: line.hash, entry })) changed.add(line.key)
        }
      } else if (line.type === 'delete') {
        this.#named?.delete(line.key)
        // Also a key that this node never had: the control plane waits for the report that it was removed.
        if (this.#delete(line.key) || isLoadBalancerKey(line.key)) changed.add(line.key)
      } else if (line.type === 'synced') for (const key of this.#finish()) changed.add(key)
    }
    return { changed, unknown }
  }

  /** @returns whether the entry differs from the one before */
  put(key: string, { hash, entry }: Held): boolean {
    const before = this.#entries.get(key)
    if (before?.hash === hash) return false
    if (before !== undefined) this.#leaveDomain(key, before)
    this.#entries.set(key, { hash, entry })
    if (entry.kind === 'load-balancer') {
      // What is found of two frozen lists is found once: the drivers and the journal compare routes with the version before.
      for (const { routes } of entry.services) if (routes !== undefined) Object.freeze(routes)
      const keys = this.#inDomain.get(entry.domain)
      if (keys === undefined) this.#inDomain.set(entry.domain, new Set([key]))
      else keys.add(key)
    }
    return true
  }

  #delete(key: string): boolean {
    const before = this.#entries.get(key)
    if (before === undefined) return false
    this.#leaveDomain(key, before)
    return this.#entries.delete(key)
  }

  #finish(): readonly string[] {
    const named = this.#named
    this.#named = null
    this.#complete = true
    if (named === null) return []
    return [...this.#entries.keys()].filter((key) => !named.has(key) && this.#delete(key))
  }

  #leaveDomain(key: string, { entry }: Held): void {
    if (entry.kind !== 'load-balancer') return
    const keys = this.#inDomain.get(entry.domain)
    keys?.delete(key)
    if (keys?.size === 0) this.#inDomain.delete(entry.domain)
  }
}

/** Why this agent cannot read an entry, which a newer control plane wrote. Null: it can. */
export function unreadable(entry: NodeStateEntry): string | null {
  if (entry.version !== NODE_STATE_VERSION)
    return `the entry has version ${String(entry.version)}, this agent knows ${NODE_STATE_VERSION}`
  return null
}
