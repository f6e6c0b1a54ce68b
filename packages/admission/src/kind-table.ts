import type { Kind } from '@spout/model'
import type { ObjectOf, Versioned } from './contract/view.ts'

/** Fields of every stored object. */
interface Identified {
  readonly id: string
  readonly createdAt: string
  readonly projectId?: string | null
}

const byAge = (a: Identified, b: Identified): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1

/** All objects of one kind, by id and by project. Lists are sorted once and cached until something changes. */
export class KindTable<K extends Kind> {
  readonly #byId = new Map<string, Versioned<ObjectOf<K>>>()
  readonly #byProject = new Map<string, Map<string, ObjectOf<K>>>()
  readonly #sorted = new Map<string | null, readonly ObjectOf<K>[]>()

  get(id: string): Versioned<ObjectOf<K>> | null {
    return this.#byId.get(id) ?? null
  }

  get size(): number {
    return this.#byId.size
  }

  /** @returns the replaced object */
  put(object: Versioned<ObjectOf<K>>): ObjectOf<K> | null {
    const identified: Identified = object.value
    const before = this.delete(identified.id)
    this.#byId.set(identified.id, object)
    const project = identified.projectId ?? null
    if (project !== null) {
      const rows = this.#byProject.get(project) ?? new Map<string, ObjectOf<K>>()
      rows.set(identified.id, object.value)
      this.#byProject.set(project, rows)
    }
    this.#forgetOrder(project)
    return before
  }

  /** @returns the deleted object */
  delete(id: string): ObjectOf<K> | null {
    const before = this.#byId.get(id)?.value ?? null
    if (before === null) return null
    this.#byId.delete(id)
    const project = (before as Identified).projectId ?? null
    if (project !== null) {
      const rows = this.#byProject.get(project)
      rows?.delete(id)
      if (rows?.size === 0) this.#byProject.delete(project)
    }
    this.#forgetOrder(project)
    return before
  }

  /** Oldest first. `projectId` null lists all. */
  list(projectId: string | null): readonly ObjectOf<K>[] {
    const known = this.#sorted.get(projectId)
    if (known) return known
    const rows =
      projectId === null
        ? [...this.#byId.values()].map(({ value }) => value)
        : [...(this.#byProject.get(projectId)?.values() ?? [])]
    const sorted = rows.sort(byAge)
    this.#sorted.set(projectId, sorted)
    return sorted
  }

  #forgetOrder(project: string | null): void {
    this.#sorted.delete(null)
    if (project !== null) this.#sorted.delete(project)
  }
}
