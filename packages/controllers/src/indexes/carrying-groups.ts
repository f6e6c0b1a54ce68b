import type { ModelView } from '@spout/admission/contract'
import { sameJson } from '@spout/model'
import { type CarryingGroup, carryingGroup } from '@spout/plan'

/**
 * The groups as plans of load balancers read them. Plans read only values that `refresh` has compared, so that a change
 * of anything that they read is noticed.
 */
export class CarryingGroups {
  readonly #view: ModelView
  readonly #known = new Map<string, CarryingGroup>()

  constructor(view: ModelView) {
    this.#view = view
  }

  of(groupId: string): CarryingGroup {
    return this.#known.get(groupId) ?? carryingGroup(groupId, null, [])
  }

  /** Reads a group again. @returns whether its load balancers must be planned again */
  refresh(groupId: string): boolean {
    const before = this.of(groupId)
    const group = this.#view.get('nodeGroup', groupId)?.value
    if (group === undefined) this.#known.delete(groupId)
    else this.#known.set(groupId, carryingGroup(groupId, group, this.#view.list('bgpAdvertisement')))
    return !sameJson(this.of(groupId), before)
  }
}
