import type { ObjectMeta } from '@spout/kube'
import { Stale } from '../cluster/object-writes.ts'
import { keyOf, PROJECT, uidOf } from '../objects.ts'
import type { Tenancy } from './tenancy.ts'

interface Named {
  readonly metadata: ObjectMeta
}

/** A change in a cluster, with the kind of object that has changed. */
interface Change {
  readonly type: string
}

/** The objects of a cluster that belong to one project, or to none (null). */
export class ProjectObjects<O extends Named> {
  readonly #tenancy: Tenancy
  readonly #project: string | null
  readonly #at: (key: string) => O | undefined

  /** @param at finds an object of any project by `namespace/name` */
  constructor(tenancy: Tenancy, project: string | null, at: (key: string) => O | undefined) {
    this.#tenancy = tenancy
    this.#project = project
    this.#at = at
  }

  /** Whether all objects have been read and assigned. */
  get ready(): boolean {
    return this.#tenancy.ready
  }

  /**
   * Subscribes to changes as the project sees them: of its own objects, and of objects of other kinds.
   * @param own makes the change for one of its objects
   * @param isHeard whether a change of another kind is passed on; left out: all are
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

  /** Whether the object exists but belongs to another project. */
  isOfAnother(key: string): boolean {
    return this.#tenancy.isOfAnother(key, this.#project)
  }

  /**
   * Whether it cannot be determined now that the object exists, or to which project it belongs. Then nothing is
   * deleted.
   */
  isWithheld(key: string): boolean {
    return this.#tenancy.isWithheld(key)
  }

  *all(): Iterable<O> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const object = this.#at(key)
      if (object !== undefined) yield object
    }
  }

  /**
   * Whether the object is gone, or belongs to another project.
   * @param isGone decides when the cluster does not show it
   */
  async isGone(key: string, uid: string, isGone: () => Promise<boolean>): Promise<boolean> {
    const object = this.#at(key)
    if (object === undefined || uidOf(object) !== uid) return isGone()
    return !this.isWithheld(key) && !this.has(key)
  }

  /** @throws Stale when the object has moved to another project */
  mustBeOurs(object: O): void {
    const key = keyOf(object)
    if (!this.has(key)) throw new Stale(`${key} is of another project now`)
  }

  /** Whether the object's annotation names this project. */
  isMarked({ metadata }: O): boolean {
    return metadata.annotations?.[PROJECT] === this.projectId
  }

  /** @throws Error when this is no project, or its id is not known yet */
  get projectId(): string {
    const id = this.#project === null ? null : this.#tenancy.projectId(this.#project)
    if (id === null) throw new Error('the id of the project is not known')
    return id
  }
}
