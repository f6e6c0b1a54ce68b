/**
 * A section of the configuration that is created in advance, with a number: frontend `f3` listens on the third local
 * port, backend `b3` holds servers.
 */
export interface Slot<Shape> {
  readonly id: number
  readonly shape: Shape
  /** Its owner; null if free. */
  readonly owner: string | null
  /** Released, but it may still have connections of the last owner, so it is not assigned yet. */
  readonly cooling: boolean
}

/** No slot is free and the table has its maximum size. */
export class SlotsExhausted extends Error {
  override readonly name = 'SlotsExhausted'
}

/** Number of slots of a shape that is used for the first time. */
const FIRST_SLOTS = 2
/** From this number of slots on, smaller parts are kept free and added: a free backend takes 10 KB. */
const MANY = 1024
const [FREE, FREE_OF_MANY] = [1 / 4, 1 / 8]
const [GROWTH, GROWTH_OF_MANY] = [1, 1 / 4]

/** The slots of one shape. */
interface OfShape<Shape> {
  readonly shape: Shape
  total: number
  /** How many have an owner. */
  owned: number
  readonly free: Set<number>
}

/**
 * Slots and their owners. Assignment and release cost the same for any number of slots, and so do the questions whether
 * slots cool or are scarce. `revision` increases when the configuration text must change.
 */
export class SlotTable<Shape> {
  readonly #keyOf: (shape: Shape) => string
  readonly #most: number
  readonly #slots = new Map<number, Slot<Shape>>()
  readonly #byOwner = new Map<string, number>()
  readonly #cooling = new Set<number>()
  readonly #byShape = new Map<string, OfShape<Shape>>()
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

  /** Null for a free slot, and for a number without a slot. */
  ownerOf(id: number): string | null {
    return this.#slots.get(id)?.owner ?? null
  }

  /** Undefined for a slot without an owner, and for a number without a slot. */
  shapeOwnedAt(id: number): Shape | undefined {
    const slot = this.#slots.get(id)
    return slot === undefined || slot.owner === null ? undefined : slot.shape
  }

  cooling(): readonly Slot<Shape>[] {
    return [...this.#cooling].sort((a, b) => a - b).map((id) => this.#slots.get(id)!)
  }

  /**
   * Assigns a slot of this shape: the owner's slot (reshaped in place, so that it keeps its number), a free one, or a
   * new one.
   * @throws SlotsExhausted
   */
  take(owner: string, shape: Shape): Slot<Shape> {
    const key = this.#keyOf(shape)
    const held = this.ownedBy(owner)
    if (held !== undefined) {
      if (this.#keyOf(held.shape) === key) return held
      return this.#reshape(held, shape)
    }
    let [id] = this.#byShape.get(key)?.free ?? []
    if (id === undefined) {
      this.grow(shape)
      ;[id] = this.#byShape.get(key)?.free ?? []
    }
    const slot = id === undefined ? undefined : this.#slots.get(id)
    if (slot === undefined) throw new SlotsExhausted(`all ${this.#most} slots of the proxy are taken`)
    return this.#replace({ ...slot, owner })
  }

  /** Releases the owner's slot, which cools until `reclaim`. Returns it; undefined if the owner had none. */
  release(owner: string): Slot<Shape> | undefined {
    const slot = this.ownedBy(owner)
    return slot && this.#replace({ ...slot, owner: null, cooling: true })
  }

  /** The slot has no content of the last owner any more. */
  reclaim(id: number): void {
    const slot = this.#slots.get(id)
    if (slot?.cooling) this.#replace({ ...slot, cooling: false })
  }

  /** Doubles the slots of a shape, or of many adds a part, up to the maximum. */
  grow(shape: Shape): void {
    const total = this.#byShape.get(this.#keyOf(shape))?.total || FIRST_SLOTS
    const wanted = total * (total < MANY ? GROWTH : GROWTH_OF_MANY)
    for (let added = 0; added < wanted && this.#slots.size < this.#most; added++) {
      while (this.#slots.has(this.#nextId)) this.#nextId++
      this.#insert({ id: this.#nextId, shape, owner: null, cooling: false })
      this.#revision++
    }
  }

  /** Shapes in use of which few slots are free. They grow in advance, so that no change waits for it. */
  scarce(): readonly Shape[] {
    if (this.#slots.size >= this.#most) return []
    return [...this.#byShape.values()]
      .filter(({ total, owned, free }) => owned > 0 && free.size < total * (total < MANY ? FREE : FREE_OF_MANY))
      .map(({ shape }) => shape)
  }

  /** Removes the free slots of unused shapes, except `kept` ones. Useful when a reload happens anyway. */
  trim(kept: readonly Shape[]): void {
    const keptKeys = new Set(kept.map(this.#keyOf))
    for (const { shape, owner, cooling } of this.#slots.values())
      if (owner !== null || cooling) keptKeys.add(this.#keyOf(shape))
    for (const [id, { shape }] of this.#slots) {
      if (keptKeys.has(this.#keyOf(shape))) continue
      this.#remove(id)
      this.#nextId = Math.min(this.#nextId, id)
    }
  }

  #reshape(slot: Slot<Shape>, shape: Shape): Slot<Shape> {
    this.#remove(slot.id)
    const reshaped = { ...slot, shape }
    this.#insert(reshaped)
    this.#revision++
    return reshaped
  }

  #insert(slot: Slot<Shape>): void {
    const { shape, id, owner, cooling } = slot
    const key = this.#keyOf(shape)
    const same = this.#byShape.get(key) ?? { shape, total: 0, owned: 0, free: new Set() }
    this.#byShape.set(key, same)
    this.#slots.set(id, slot)
    same.total++
    if (owner !== null) {
      this.#byOwner.set(owner, id)
      same.owned++
    } else if (cooling) this.#cooling.add(id)
    else same.free.add(id)
  }

  #remove(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const same = this.#byShape.get(this.#keyOf(slot.shape))!
    this.#slots.delete(id)
    this.#cooling.delete(id)
    same.free.delete(id)
    same.total--
    if (slot.owner !== null) {
      this.#byOwner.delete(slot.owner)
      same.owned--
    }
  }

  /** The slot keeps its shape. */
  #replace(slot: Slot<Shape>): Slot<Shape> {
    this.#remove(slot.id)
    this.#insert(slot)
    return slot
  }
}
