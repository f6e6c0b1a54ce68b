import { type KindReflector, keyOf, WhenReadable } from '@spout/connector'
import { type DeletionGuardPolicy, Reflector, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { ListenerSet } from '../objects/listener-set.ts'
import { LISTENER_SETS } from '../objects/resources.ts'
import { gatewayOfSet } from '../to-model/listener-parents.ts'
import { trimmed, versioned } from './trimmed.ts'

export interface ListenerSetsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** The ListenerSets of a cluster, read from when it has that kind and lets us read it. */
export class ListenerSets {
  readonly #reflector: Reflector<ListenerSet, ListenerSet>
  readonly #whenReadable: WhenReadable
  /** Keys by Gateway; null when sets have changed since. */
  #ofGateways: ReadonlyMap<string, readonly string[]> | null = null

  constructor(options: ListenerSetsOptions) {
    const resource = LISTENER_SETS
    this.#reflector = new Reflector({ ...options, resource, trim: trimmed })
    const { transport, clock, log } = options
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: resource.kind, resources: [resource] },
      begin: () => void this.#reflector.start(),
    })
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? [{ kind: LISTENER_SETS.kind, reflector: this.#reflector }] : []
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
    this.#reflector.onChange((key) => {
      this.#ofGateways = null
      listener(key)
    })
  }

  get(key: string): ListenerSet | undefined {
    return versioned(this.#reflector, key)
  }

  *all(): Iterable<ListenerSet> {
    for (const [, set] of this.#reflector.list()) yield set
  }

  /** Those that name a Gateway, of any class. */
  ofGateway(gateway: string): readonly ListenerSet[] {
    this.#ofGateways ??= this.#byGateway()
    return (this.#ofGateways.get(gateway) ?? []).flatMap((key) => this.get(key) ?? [])
  }

  #byGateway(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>()
    for (const [, set] of this.#reflector.list()) {
      const gateway = gatewayOfSet(set)
      if (gateway !== null) found.set(gateway, [...(found.get(gateway) ?? []), keyOf(set)])
    }
    return found
  }
}
