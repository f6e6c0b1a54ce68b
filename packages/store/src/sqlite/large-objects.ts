import type { PlannedWrite } from '../planned-write.ts'
import type { Ref } from '../store.ts'
import { LARGE_BYTES } from './statements.ts'

const keyOf = ({ kind, id }: Ref): string => `${kind} ${id}`

/** Which objects are large enough to write edits of them, as far as is known here. The thread that writes decides. */
export class LargeObjects {
  readonly #keys: Set<string>

  constructor(large: readonly Ref[]) {
    this.#keys = new Set(large.map(keyOf))
  }

  has(ref: Ref): boolean {
    return this.#keys.has(keyOf(ref))
  }

  /** Learns from a write that was stored. */
  note({ kind, id, text, isEdit }: PlannedWrite): void {
    if (isEdit) return
    if ((text?.length ?? 0) >= LARGE_BYTES) this.#keys.add(keyOf({ kind, id }))
    else this.#keys.delete(keyOf({ kind, id }))
  }
}
