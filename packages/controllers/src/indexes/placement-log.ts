import type { ModelView } from '@spout/admission/contract'
import { type Placement, parseAs, placement as placementSchema, SpoutError } from '@spout/model'
import { PlacementIndex } from '@spout/plan'
import type { Revision, Store } from '@spout/store'
import { KeySets } from './key-sets.ts'

/**
 * All placements: in memory for planning, and in the store for the next start. A new placement is visible to the next
 * plan at once, and is rolled back if the store refuses it. Callers publish nothing that depends on it before it is
 * stored.
 */
export class PlacementLog {
  readonly #store: Store
  readonly index = new PlacementIndex()
  readonly #revisions = new Map<string, Revision>()
  readonly #byOwner = new KeySets()
  readonly #unsettled = new Set<string>()

  constructor(store: Store) {
    this.#store = store
  }

  load(view: ModelView): void {
    for (const { id } of view.list('placement')) {
      const stored = view.get('placement', id)
      if (stored !== null) this.#know(stored.value, stored.revision)
    }
  }

  /** Ids of the load balancers that this node owns. */
  ownedBy(nodeId: string): ReadonlySet<string> {
    return this.#byOwner.of(nodeId)
  }

  /** Ids of the load balancers whose reason is not `Placed`. They must be planned again when nodes change. */
  get unsettled(): ReadonlySet<string> {
    return this.#unsettled
  }

  /**
   * Stores a placement, unless it is stored already. A placement without a network decides nothing, so it is stored
   * only to replace an earlier one: most load balancers are created without a network, and each would cost a second
   * commit.
   * @throws SpoutError of the store. Then the previous placement is restored
   */
  async put(placement: Placement, projectId: string): Promise<void> {
    const before = this.index.get(placement.id)
    if (before === placement) return
    this.#index(placement)
    const { id } = placement
    const ifRevision = this.#revisions.get(id) ?? 'absent'
    if (placement.networkId === null && ifRevision === 'absent') return
    try {
      const { revision } = await this.#store.commit([
        { op: 'put', kind: 'placement', id, scope: projectId, value: placement, ifRevision, over: before },
      ])
      this.#revisions.set(id, revision)
    } catch (error) {
      if (before === null) this.#forget(id)
      else this.#index(before)
      await this.#reloadAfter(error, id)
      throw error
    }
  }

  /**
   * Adds the placement of a new load balancer that the caller is about to store.
   * @returns a function to call with the result of the commit: the revision, or null if it failed
   */
  expect(placement: Placement): (revision: Revision | null) => void {
    const { id } = placement
    this.#index(placement)
    return (revision) => {
      // Another placement was stored meanwhile, which is newer.
      if (this.index.get(id) !== placement) return
      if (revision === null) this.#forget(id)
      else this.#revisions.set(id, revision)
    }
  }

  async delete(id: string): Promise<void> {
    const revision = this.#revisions.get(id)
    this.#forget(id)
    this.#revisions.delete(id)
    if (revision === undefined) return
    try {
      await this.#store.commit([{ op: 'delete', kind: 'placement', id, ifRevision: revision }])
    } catch (error) {
      if (error instanceof SpoutError && error.code === 'NotFound') return
      await this.#reloadAfter(error, id)
      throw error
    }
  }

  /** After a failed commit: takes the stored placement, if another writer stored one. */
  async #reloadAfter(error: unknown, id: string): Promise<void> {
    const collided =
      error instanceof SpoutError && ['RevisionConflict', 'AlreadyExists', 'NotFound'].includes(error.code)
    const stored = await this.#store.get('placement', id).catch(() => null)
    if (stored !== null) this.#know(parseAs(placementSchema, stored.value), stored.revision)
    else if (collided) {
      this.#forget(id)
      this.#revisions.delete(id)
    }
  }

  #know(placement: Placement, revision: Revision): void {
    this.#revisions.set(placement.id, revision)
    this.#index(placement)
  }

  #index(placement: Placement): void {
    this.index.put(placement)
    this.#byOwner.set(placement.id, placement.ownerNodeId)
    if (placement.reason.code === 'Placed') this.#unsettled.delete(placement.id)
    else this.#unsettled.add(placement.id)
  }

  #forget(id: string): void {
    this.index.remove(id)
    this.#byOwner.set(id, null)
    this.#unsettled.delete(id)
  }
}
