/** How many are reviewed in one go. A node with 30,000 load balancers must not hold up reports. */
const SLICE = 500

/**
 * What is to be reviewed, each once. A slice is reviewed at once, so that a confirmation counts as it arrives. The rest
 * is reviewed after other work had its turn.
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
