import { CONFIG_MAPS, type ConfigMap, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { OrRefusal } from '../refusal.ts'
import { NamedObjects } from './named-objects.ts'

export interface NamedConfigMapsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
}

type Data = Readonly<Record<string, string>>

/** The ConfigMaps that objects name, each followed by its name alone while one of them names it. */
export class NamedConfigMaps {
  readonly #objects: NamedObjects<Data>
  readonly #named = new Map<string, ReadonlySet<string>>()
  readonly #listeners = new Set<(key: string) => void>()

  constructor(options: NamedConfigMapsOptions) {
    this.#objects = new NamedObjects<Data>({
      ...options,
      placeOf: (key) => {
        const [namespace = '', name = ''] = key.split('/', 2)
        return { namespace, name, resource: CONFIG_MAPS, kind: 'ConfigMap', field: 'configMap' }
      },
      read: (_, { data = {} }: ConfigMap) => ({ value: data }),
      versionOf: (data) => JSON.stringify(data),
      onChange: (key) => {
        for (const listener of this.#listeners) listener(key)
      },
    })
  }

  /** Calls back with the `namespace/name` of one that was read for the first time, or has changed. */
  onChange(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Says which ConfigMaps an object names now; an empty set when it is gone.
   * @param keys `namespace/name` of each
   */
  name(namer: string, keys: ReadonlySet<string>): void {
    const before = this.#named.get(namer) ?? new Set()
    if (keys.size === 0) this.#named.delete(namer)
    else this.#named.set(namer, new Set(keys))
    for (const key of keys) this.#objects.follow(key)
    for (const key of before.difference(keys))
      if (!this.#named.values().some((others) => others.has(key))) this.#objects.forget(key)
  }

  /** Null until it was read for the first time. */
  of(key: string): OrRefusal<Data> | null {
    return this.#objects.of(key)
  }

  close(): Promise<void> {
    return this.#objects.close()
  }
}
