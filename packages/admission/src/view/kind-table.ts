import type { Kind } from '@spout/model'
import type { ObjectOf, Versioned } from '../contract/view.ts'
import { type Aged, AgeOrder } from './age-order.ts'

/** Fields of every stored object. */
interface Identified extends Aged {
  readonly projectId?: string | null
}

/** All objects of one kind, by id and by project. Lists are sorted once, and kept in order from then on. */
export class KindTable<K extends Kind> {
  readonly #byId = new Map<string, Versioned<ObjectOf<K>>>()
  readonly #byProject = new Map<string, Map<string, ObjectOf<K>>>()
  /** By project; null is all. */
  readonly #orders = new Map<string | null, AgeOrder<ObjectOf<K>>>()

  get(id: string): Versioned<ObjectOf<K>> | null {
    return this.#byId.get(id) ?? null
  }

  get size(): number {
    return this.#byId.size
  }

  /** @returns the replaced object */
  put(object: Versioned<ObjectOf<K>>): ObjectOf<K> | null {
    const { value } = object
    const { id } = value
    const before = this.#byId.get(id)?.value ?? null
    const [was, is] = [projectOf(before), projectOf(value)]
    if (was !== is) this.#leave(was, id)
    this.#byId.set(id, object)
    if (is !== null) {
      const rows = this.#byProject.get(is) ?? new Map<string, ObjectOf<K>>()
      rows.set(id, value)
      this.#byProject.set(is, rows)
    }
    this.#reorder(null, before, value)
    if (was !== null && was !== is) this.#reorder(was, before, null)
    if (is !== null) this.#reorder(is, was === is ? before : null, value)
    return before
  }

  /** @returns the deleted object */
  delete(id: string): ObjectOf<K> | null {
    const before = this.#byId.get(id)?.value ?? null
    if (before === null) return null
    this.#byId.delete(id)
    const project = projectOf(before)
    this.#leave(project, id)
    this.#reorder(null, before, null)
    if (project !== null) this.#reorder(project, before, null)
    return before
  }

  /** Oldest first. `projectId` null lists all. */
  list(projectId: string | null): readonly ObjectOf<K>[] {
    const known = this.#orders.get(projectId)
    if (known !== undefined) return known.list()
    const order = new AgeOrder(
      projectId === null
        ? [...this.#byId.values()].map(({ value }) => value)
        : (this.#byProject.get(projectId)?.values() ?? []),
    )
    this.#orders.set(projectId, order)
    return order.list()
  }

  #leave(project: string | null, id: string): void {
    if (project === null) return
    const rows = this.#byProject.get(project)
    rows?.delete(id)
    if (rows?.size === 0) this.#byProject.delete(project)
  }

  /** @param project null is all */
  #reorder(project: string | null, before: ObjectOf<K> | null, now: ObjectOf<K> | null): void {
    const order = this.#orders.get(project)
    order?.replace(before, now)
    // A project that has no more such objects leaves nothing behind.
    if (order?.isOutdated === true || (project !== null && !this.#byProject.has(project))) this.#orders.delete(project)
  }
}

const projectOf = (object: Identified | null): string | null => object?.projectId ?? null
