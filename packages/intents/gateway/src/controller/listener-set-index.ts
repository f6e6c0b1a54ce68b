import { uidOf } from '@spout/connector'
import type { ListenerSet } from '../objects/listener-set.ts'
import { gatewayOfSet } from '../to-model/listeners/listener-parents.ts'

interface SeenSet {
  readonly uid: string
  readonly generation: number
  /** Null when it names no Gateway. */
  readonly gateway: string | null
}

/** The ListenerSets as they were last seen. */
export class ListenerSetIndex {
  readonly #seen = new Map<string, SeenSet>()

  /**
   * @param set undefined when it is gone
   * @returns the Gateways that it named before and names now, and whether its `spec` is unchanged
   */
  put(
    key: string,
    set: ListenerSet | undefined,
  ): { readonly before: string | null; readonly after: string | null; readonly isSame: boolean } {
    const before = this.#seen.get(key)
    const after = set && { uid: uidOf(set), generation: set.metadata.generation ?? 0, gateway: gatewayOfSet(set) }
    if (after === undefined) this.#seen.delete(key)
    else this.#seen.set(key, after)
    const isSame = before?.uid === after?.uid && before?.generation === after?.generation
    return { before: before?.gateway ?? null, after: after?.gateway ?? null, isSame }
  }
}
