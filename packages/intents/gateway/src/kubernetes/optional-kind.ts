import { type KindReflector, WhenReadable } from '@spout/connector'
import { type DeletionGuardPolicy, type KubeObject, Reflector, type Resource, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import { trimmed, versioned } from './trimmed.ts'

export interface OptionalKindOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** The index that finds objects by the keys of the objects that they name. */
const NAMED = 'named'

/**
 * The objects of a kind that a cluster may lack. They are read as soon as the cluster has the kind and we may read it.
 */
export class OptionalKind<T extends KubeObject & { readonly spec: unknown; readonly status?: unknown }> {
  readonly #kind: string
  readonly #reflector: Reflector<T, T>
  readonly #whenReadable: WhenReadable

  /** @param namesOf keys of the objects of other kinds that an object names */
  constructor(options: OptionalKindOptions, resource: Resource<T>, namesOf: (object: T) => readonly string[]) {
    this.#kind = resource.kind
    this.#reflector = new Reflector({ ...options, resource, trim: trimmed, indexes: { [NAMED]: namesOf } })
    const { transport, clock, log } = options
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: resource.kind, resources: [resource] },
      begin: () => void this.#reflector.start(),
    })
  }

  /** The reflector, once it is running; empty before. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? [{ kind: this.#kind, reflector: this.#reflector }] : []
  }

  get ready(): boolean {
    return this.#whenReadable.begun ? this.#reflector.hasSynced : this.#whenReadable.isUnreadable
  }

  start(): void {
    this.#whenReadable.start()
  }

  async stop(): Promise<void> {
    await this.#whenReadable.stop()
    await this.#reflector.close()
  }

  onChange(listener: (key: string) => void): void {
    this.#reflector.onChange(listener)
  }

  get(key: string): T | undefined {
    return versioned(this.#reflector, key)
  }

  *all(): Iterable<T> {
    for (const [, object] of this.#reflector.list()) yield object
  }

  /** The objects that name an object of another kind. @param name its key */
  naming(name: string): readonly T[] {
    return this.#reflector.keysBy(NAMED, name).flatMap((key) => this.get(key) ?? [])
  }
}
