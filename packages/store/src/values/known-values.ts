import type { Ref } from '../store.ts'

interface Place extends Ref {
  readonly sequence: number
}

/** Remembers which values the store returned or took over, and which version of which object each is. */
export class KnownValues {
  readonly #places = new WeakMap<object, Place>()

  note({ kind, id }: Ref, sequence: number, value: unknown): void {
    if (typeof value === 'object' && value !== null) this.#places.set(value, { kind, id, sequence })
  }

  /** Whether `value` is the object's version at that sequence. */
  has({ kind, id }: Ref, sequence: number, value: unknown): boolean {
    const place = typeof value === 'object' && value !== null ? this.#places.get(value) : undefined
    return place !== undefined && place.sequence === sequence && place.id === id && place.kind === kind
  }
}
