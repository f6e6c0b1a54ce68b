import type { ObjectMeta } from '@spout/kube'
import { Stale } from '../cluster/object-writes.ts'
import { keyOf, PROJECT, uidOf } from '../objects.ts'
import type { Tenancy } from './tenancy.ts'

interface Named {
  readonly metadata: ObjectMeta
}

/** A change in a cluster: the kind of thing that has changed. */
interface Change {
  readonly type: string
}

/** The objects of one project among those of a cluster, or of no project (null). Those of other projects are absent. */
export class ProjectObjects<O extends Named> {
  readonly #tenancy: Tenancy
  readonly #project: string | null
  readonly #at: (key: string) => O | undefined

  /** @param at any object of the cluster by `namespace/name` */
  constructor(tenancy: Tenancy, project: string | null, at: (key: string) => O | undefined) {
    this.#tenancy = tenancy
    this.#project = project
    this.#at = at
  }

  /** Whether every object is there, with its project. */
  get ready(): boolean {
    return this.#tenancy.ready
  }

  /**
   * Follows a cluster as the project sees it.
   * @param own the change of one of its objects
   * @param isHeard whether it hears of a change of something else
   */
  follow<C extends Change>(
    cluster: { onChange(listener: (change: C) => void): () => void },
    own: (key: string) => C,
    listener: (change: C) => void,
    isHeard: (change: C) => boolean = () => true,
  ): () => void {
    const { type } = own('')
    const unsubscribe = [
      this.#tenancy.onChange(this.#project, (key) => listener(own(key))),
      cluster.onChange((change) => {
        if (change.type !== type && isHeard(change)) listener(change)
      }),
    ]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  has(key: string): boolean {
    return this.#tenancy.isOf(key, this.#project)
  }

  get(key: string): O | undefined {
    return this.has(key) ? this.#at(key) : undefined
  }

  /** Whether it exists but belongs to another project. */
  isOfAnother(key: string): boolean {
    return this.#tenancy.isOfAnother(key, this.#project)
  }

  /** Whether its existence or its project cannot be determined now: then its absence deletes nothing. */
  isWithheld(key: string): boolean {
    return this.#tenancy.isWithheld(key)
  }

  *all(): Iterable<O> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const object = this.#at(key)
      if (object !== undefined) yield object
    }
  }

  /** An object of another project counts as gone. @param isGone decides for an object that is not in the cluster now */
  async isGone(key: string, uid: string, isGone: () => Promise<boolean>): Promise<boolean> {
    const object = this.#at(key)
    if (object === undefined || uidOf(object) !== uid) return isGone()
    return !this.isWithheld(key) && !this.has(key)
  }

  /** @throws Stale: it may have moved to another project meanwhile */
  mustBeOurs(object: O): void {
    const key = keyOf(object)
    if (!this.has(key)) throw new Stale(`${key} is of another project now`)
  }

  /** Whether the object names the project as the one that balanced it first. */
  isMarked({ metadata }: O): boolean {
    return metadata.annotations?.[PROJECT] === this.projectId
  }

  /** @throws Error for objects of no project, which nobody claims */
  get projectId(): string {
    const id = this.#project === null ? null : this.#tenancy.projectId(this.#project)
    if (id === null) throw new Error('the id of the project is not known')
    return id
  }
}
