/** A pre-made section of the configuration, known by its number: `f3` listens on the third local port, `b3` holds servers. */
export interface Slot<Shape> {
  readonly id: number
  readonly shape: Shape
  /** Who uses it; null when free. */
  readonly owner: string | null
  /** Given back, but connections of the last owner may still be in it: not given out again yet. */
  readonly cooling: boolean
}

/** No slot is left and the table is at its largest. */
export class SlotsExhausted extends Error {
  override readonly name = 'SlotsExhausted'
}

/** A shape that nobody asked for before begins with this many slots. */
const FIRST_SLOTS = 2

/**
 * Which slots there are and who has which. Taking and giving back cost the same however many there are. `revision`
 * rises when the configuration text must change.
 */
export class SlotTable<Shape> {
  readonly #keyOf: (shape: Shape) => string
  readonly #most: number
  readonly #slots = new Map<number, Slot<Shape>>()
  readonly #byOwner = new Map<string, number>()
  readonly #free = new Map<string, Set<number>>()
  readonly #total = new Map<string, number>()
  #nextId = 0
  #revision = 0

  constructor(options: {
    readonly keyOf: (shape: Shape) => string
    readonly most: number
    readonly slots: readonly Slot<Shape>[]
  }) {
    this.#keyOf = options.keyOf
    this.#most = options.most
    for (const slot of options.slots) this.#insert(slot)
  }

  get revision(): number {
    return this.#revision
  }

  get slots(): readonly Slot<Shape>[] {
    return [...this.#slots.values()].sort((a, b) => a.id - b.id)
  }

  get used(): number {
    return this.#byOwner.size
  }

  ownedBy(owner: string): Slot<Shape> | undefined {
    const id = this.#byOwner.get(owner)
    return id === undefined ? undefined : this.#slots.get(id)
  }

  cooling(): readonly Slot<Shape>[] {
    return this.slots.filter((slot) => slot.cooling)
  }

  /**
   * The owner's slot, in this shape: the one it has (reshaped in place, so that it keeps its number), a free one, or
   * after growing a new one.
   * @throws SlotsExhausted
   */
  take(owner: string, shape: Shape): Slot<Shape> {
    const key = this.#keyOf(shape)
    const held = this.ownedBy(owner)
    if (held !== undefined) {
      if (this.#keyOf(held.shape) === key) return held
      return this.#reshape(held, shape)
    }
    let [id] = this.#free.get(key) ?? []
    if (id === undefined) {
      this.grow(shape)
      ;[id] = this.#free.get(key) ?? []
    }
    const slot = id === undefined ? undefined : this.#slots.get(id)
    if (slot === undefined) throw new SlotsExhausted(`all ${this.#most} slots of the proxy are taken`)
    return this.#replace({ ...slot, owner })
  }

  /** Gives the owner's slot back; it cools until `reclaim`. Returns it, undefined when the owner had none. */
  release(owner: string): Slot<Shape> | undefined {
    const slot = this.ownedBy(owner)
    return slot && this.#replace({ ...slot, owner: null, cooling: true })
  }

  /** Nothing of the last owner is left in the slot. */
  reclaim(id: number): void {
    const slot = this.#slots.get(id)
    if (slot?.cooling) this.#replace({ ...slot, cooling: false })
  }

  /** Doubles the slots of a shape, as far as there is room. */
  grow(shape: Shape): void {
    const wanted = this.#total.get(this.#keyOf(shape)) || FIRST_SLOTS
    for (let added = 0; added < wanted && this.#slots.size < this.#most; added++) {
      while (this.#slots.has(this.#nextId)) this.#nextId++
      this.#insert({ id: this.#nextId, shape, owner: null, cooling: false })
      this.#revision++
    }
  }

  /** Shapes in use of which less than a quarter is free: growing them now means that nobody has to wait for it. */
  scarce(): readonly Shape[] {
    const scarce = new Map<string, Shape>()
    for (const { shape, owner } of this.#slots.values()) {
      const key = this.#keyOf(shape)
      const free = this.#free.get(key)?.size ?? 0
      if (owner !== null && free < (this.#total.get(key) ?? 0) / 4) scarce.set(key, shape)
    }
    return this.#slots.size < this.#most ? [...scarce.values()] : []
  }

  /** Drops the free slots of shapes that nobody uses, except those to be `kept`. Worth doing when a reload is due anyway. */
  trim(kept: readonly Shape[]): void {
    const keptKeys = new Set(kept.map(this.#keyOf))
    for (const { shape, owner, cooling } of this.#slots.values())
      if (owner !== null || cooling) keptKeys.add(this.#keyOf(shape))
    for (const [id, { shape }] of this.#slots) if (!keptKeys.has(this.#keyOf(shape))) this.#remove(id)
  }

  #reshape(slot: Slot<Shape>, shape: Shape): Slot<Shape> {
    this.#remove(slot.id)
    const reshaped = { ...slot, shape }
    this.#insert(reshaped)
    this.#revision++
    return reshaped
  }

  #insert(slot: Slot<Shape>): void {
    const key = this.#keyOf(slot.shape)
    this.#total.set(key, (this.#total.get(key) ?? 0) + 1)
    if (!this.#free.has(key)) this.#free.set(key, new Set())
    this.#replace(slot)
  }

  #remove(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const key = this.#keyOf(slot.shape)
    this.#slots.delete(id)
    this.#free.get(key)?.delete(id)
    this.#total.set(key, (this.#total.get(key) ?? 1) - 1)
    if (slot.owner !== null) this.#byOwner.delete(slot.owner)
    this.#nextId = Math.min(this.#nextId, id)
  }

  #replace(slot: Slot<Shape>): Slot<Shape> {
    const before = this.#slots.get(slot.id)
    if (before?.owner != null) this.#byOwner.delete(before.owner)
    this.#slots.set(slot.id, slot)
    if (slot.owner !== null) this.#byOwner.set(slot.owner, slot.id)
    const free = this.#free.get(this.#keyOf(slot.shape))
    if (slot.owner === null && !slot.cooling) free?.add(slot.id)
    else free?.delete(slot.id)
    return slot
  }
}
