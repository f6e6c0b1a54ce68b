import type { HashedEntry, NodeStates } from '@spout/admission/contract'
import { type HashedParts, hashEntry, type NodeStateEntry } from '@spout/model'
import type { Reason } from '@spout/plan'
import { Listeners } from '@spout/runtime'

type Listener = (keys: readonly string[]) => void

/**
 * Limit of unreleased keys per node. A node that releases nothing is disconnected. When it is back, it reports
 * everything that it has.
 */
const MOST_UNRELEASED = 10_000

/**
 * The wanted state of every node, in memory. The plan controller writes it. The agent link and the status controller
 * read it.
 */
export class NodeStateTable implements NodeStates {
  /** key -> node id -> entry */
  readonly #entries = new Map<string, Map<string, HashedParts>>()
  /** node id -> keys */
  readonly #keys = new Map<string, Set<string>>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #keyListeners = new Listeners<string>()
  readonly #problems = new Map<string, readonly Reason[]>()
  /**
   * node id -> keys of entries that were withdrawn and that it has not reported as removed. Only the newest are kept.
   */
  readonly #unreleased = new Map<string, Set<string>>()
  #ready = false

  get(nodeId: string, key: string): HashedEntry | null {
    return this.#entries.get(key)?.get(nodeId) ?? null
  }

  *entries(nodeId: string): Iterable<HashedEntry & { readonly key: string }> {
    for (const key of this.#keys.get(nodeId) ?? []) {
      const held = this.get(nodeId, key)
      if (held !== null) yield { key, ...held }
    }
  }

  /** Whether the node lost the entry and has not reported it as removed. */
  isUnreleased(nodeId: string, key: string): boolean {
    return this.#unreleased.get(nodeId)?.has(key) ?? false
  }

  /** Call when the node reported the key as removed. */
  release(nodeId: string, key: string): void {
    const keys = this.#unreleased.get(nodeId)
    keys?.delete(key)
    if (keys?.size === 0) this.#unreleased.delete(nodeId)
  }

  /** Call when the node was deleted. */
  forget(nodeId: string): void {
    this.#unreleased.delete(nodeId)
  }

  /** Ids of the nodes that have an entry under this key. */
  nodesWith(key: string): Iterable<string> {
    return this.#entries.get(key)?.keys() ?? []
  }

  onChange(nodeId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(nodeId) ?? new Set()
    this.#listeners.set(nodeId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(nodeId) === listeners) this.#listeners.delete(nodeId)
    }
  }

  /**
   * Calls the listener with each key whose entry changed on any node, also before `ready`, and with each key that is
   * removed from all nodes, even if none had it.
   * @returns the unsubscribe function
   */
  onKeyChange(listener: (key: string) => void): () => void {
    return this.#keyListeners.add(listener)
  }

  ready(): boolean {
    return this.#ready
  }

  markReady(): void {
    this.#ready = true
  }

  /**
   * Sets the entries under a key for all nodes. Nodes that are not in `wanted` lose theirs.
   * @returns the nodes whose entry changed; their listeners were called
   */
  set(key: string, wanted: ReadonlyMap<string, NodeStateEntry>): readonly string[] {
    return this.#set(key, wanted, null)
  }

  /** As `set`, but only for these nodes. The entries of other nodes stay. */
  setOn(nodeIds: ReadonlySet<string>, key: string, wanted: ReadonlyMap<string, NodeStateEntry>): readonly string[] {
    return this.#set(key, wanted, nodeIds)
  }

  /** The planner's problems that keep the node from announcing as its group requires. */
  problems(nodeId: string): readonly Reason[] {
    return this.#problems.get(nodeId) ?? []
  }

  setProblems(nodeId: string, problems: readonly Reason[]): void {
    if (problems.length === 0) this.#problems.delete(nodeId)
    else this.#problems.set(nodeId, problems)
  }

  #set(key: string, wanted: ReadonlyMap<string, NodeStateEntry>, only: ReadonlySet<string> | null): readonly string[] {
    const held = this.#entries.get(key) ?? new Map<string, HashedParts>()
    const changed: string[] = []
    for (const nodeId of held.keys()) {
      if (wanted.has(nodeId) || only?.has(nodeId) === false) continue
      held.delete(nodeId)
      this.#forget(nodeId, key)
      changed.push(nodeId)
    }
    // The nodes of a group usually share one entry object, so each object is hashed once.
    const hashes = new Map<NodeStateEntry, HashedParts>()
    for (const [nodeId, entry] of wanted) {
      const hashed = hashes.get(entry) ?? hashEntry(entry, held.get(nodeId))
      hashes.set(entry, hashed)
      if (held.get(nodeId)?.hash === hashed.hash) continue
      held.set(nodeId, hashed)
      const keys = this.#keys.get(nodeId)
      if (keys === undefined) this.#keys.set(nodeId, new Set([key]))
      else keys.add(key)
      changed.push(nodeId)
    }
    if (held.size === 0) this.#entries.delete(key)
    else this.#entries.set(key, held)
    if (this.#ready) for (const nodeId of changed) this.#tell(nodeId, key)
    const isDropped = only === null && wanted.size === 0
    if (changed.length > 0 || isDropped) this.#keyListeners.tell(key)
    return changed
  }

  #forget(nodeId: string, key: string): void {
    const keys = this.#keys.get(nodeId)
    keys?.delete(key)
    if (keys?.size === 0) this.#keys.delete(nodeId)
    const unreleased = this.#unreleased.get(nodeId) ?? new Set<string>()
    this.#unreleased.set(nodeId, unreleased.add(key))
    const [oldest] = unreleased
    if (unreleased.size > MOST_UNRELEASED && oldest !== undefined) unreleased.delete(oldest)
  }

  #tell(nodeId: string, key: string): void {
    for (const listener of this.#listeners.get(nodeId) ?? []) listener([key])
  }
}
