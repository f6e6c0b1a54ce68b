/** How many objects are reviewed without a pause. A node with 30,000 load balancers must not delay reports. */
const SLICE = 500

/**
 * A queue of objects to review. It holds each object once. The first slice is reviewed immediately, so that a
 * confirmation takes effect when it arrives. The rest is reviewed slice by slice, with other work in between.
 */
export class ReviewQueue {
  readonly #review: (id: string) => void
  readonly #due = new Set<string>()
  #next: NodeJS.Immediate | null = null

  constructor(review: (id: string) => void) {
    this.#review = review
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.#due.add(id)
    if (this.#next === null) this.#reviewSlice()
  }

  close(): void {
    if (this.#next !== null) clearImmediate(this.#next)
  }

  #reviewSlice(): void {
    let left = SLICE
    for (const id of this.#due) {
      if (left-- === 0) break
      this.#due.delete(id)
      this.#review(id)
    }
    if (this.#due.size === 0) return
    this.#next = setImmediate(() => {
      this.#next = null
      this.#reviewSlice()
    })
  }
}
