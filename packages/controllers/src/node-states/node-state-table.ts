import type { HashedEntry, NodeStates } from '@spout/admission/contract'
import { type HashedParts, hashEntry, type NodeStateEntry } from '@spout/model'
import type { Reason } from '@spout/plan'

type Listener = (keys: readonly string[]) => void

/** Keys remembered of a node that does not say that it let them go: it is away, and tells of all that it holds when it is back. */
const MOST_UNGIVEN = 10_000

/** What every node shall hold, in memory. The plan controller writes it; the agent link and the status read it. */
export class NodeStateTable implements NodeStates {
  /** key -> node id -> entry */
  readonly #entries = new Map<string, Map<string, HashedParts>>()
  /** node id -> keys */
  readonly #keys = new Map<string, Set<string>>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #keyListeners = new Set<(key: string) => void>()
  readonly #problems = new Map<string, readonly Reason[]>()
  /** node id -> keys that it was to hold and has not said that it let go; of a node that never says so the newest. */
  readonly #ungiven = new Map<string, Set<string>>()
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

  /** Whether the node was to hold this key, shall not any more, and has not said that it let it go. */
  wasGiven(nodeId: string, key: string): boolean {
    return this.#ungiven.get(nodeId)?.has(key) ?? false
  }

  /** The node said that it does not hold this key. */
  letGo(nodeId: string, key: string): void {
    const keys = this.#ungiven.get(nodeId)
    keys?.delete(key)
    if (keys?.size === 0) this.#ungiven.delete(nodeId)
  }

  /** The node is gone. */
  letGoAll(nodeId: string): void {
    this.#ungiven.delete(nodeId)
  }

  /** Ids of the nodes that shall hold this key. */
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
   * Calls back with each key that changed for any node, also before `ready`, and with each that nobody shall hold, also when
   * nobody did; returns the unsubscribe.
   */
  onKeyChange(listener: (key: string) => void): () => void {
    this.#keyListeners.add(listener)
    return () => this.#keyListeners.delete(listener)
  }

  ready(): boolean {
    return this.#ready
  }

  markReady(): void {
    this.#ready = true
  }

  /**
   * Says what every node shall hold under a key: nodes that are not named hold it no more.
   * @returns the nodes for which it changed; they were told already
   */
  set(key: string, wanted: ReadonlyMap<string, NodeStateEntry>): readonly string[] {
    return this.#set(key, wanted, null)
  }

  /** The same of these nodes alone: what the others hold under the key stays. */
  setOn(nodeIds: ReadonlySet<string>, key: string, wanted: ReadonlyMap<string, NodeStateEntry>): readonly string[] {
    return this.#set(key, wanted, nodeIds)
  }

  /** What keeps the node from announcing as its group shall, as the planner found. */
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
    // The nodes of a group mostly share one entry object: hash each object once.
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
    if (changed.length > 0 || isDropped) for (const listener of this.#keyListeners) listener(key)
    return changed
  }

  #forget(nodeId: string, key: string): void {
    const keys = this.#keys.get(nodeId)
    keys?.delete(key)
    if (keys?.size === 0) this.#keys.delete(nodeId)
    const ungiven = this.#ungiven.get(nodeId) ?? new Set<string>()
    this.#ungiven.set(nodeId, ungiven.add(key))
    const [oldest] = ungiven
    if (ungiven.size > MOST_UNGIVEN && oldest !== undefined) ungiven.delete(oldest)
  }

  #tell(nodeId: string, key: string): void {
    for (const listener of this.#listeners.get(nodeId) ?? []) listener([key])
  }
}
