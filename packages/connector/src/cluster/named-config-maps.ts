import { CONFIG_MAPS, type ConfigMap, type Transport } from '@spout/kube'
import { type Clock, Listeners, type Logger } from '@spout/runtime'
import type { OrRefusal } from '../refusal.ts'
import { Dependents } from './dependents.ts'
import { NamedObjects } from './named-objects.ts'

export interface NamedConfigMapsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
}

type Data = Readonly<Record<string, string>>

/** The ConfigMaps that objects name. Each is followed by its name while some object names it. No others are read. */
export class NamedConfigMaps {
  readonly #objects: NamedObjects<Data>
  readonly #namers = new Dependents()
  readonly #listeners = new Listeners<string>()

  constructor(options: NamedConfigMapsOptions) {
    this.#objects = new NamedObjects<Data>({
      ...options,
      placeOf: (key) => {
        const [namespace = '', name = ''] = key.split('/', 2)
        return { namespace, name, resource: CONFIG_MAPS, kind: 'ConfigMap', field: 'configMap' }
      },
      read: (_, { data = {} }: ConfigMap) => ({ value: data }),
      versionOf: (data) => JSON.stringify(data),
      onChange: (key) => this.#listeners.tell(key),
    })
  }

  /** Calls back with the `namespace/name` of a ConfigMap that was read for the first time, or has changed. */
  onChange(listener: (key: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Sets which ConfigMaps an object names now; an empty set when the object is gone.
   * @param namer identifies the object
   * @param keys `namespace/name` of each
   */
  name(namer: string, keys: ReadonlySet<string>): void {
    const before = this.#namers.depend(namer, new Set(keys))
    for (const key of keys) this.#objects.follow(key)
    for (const key of before.difference(keys)) if (this.#namers.of(key).length === 0) this.#objects.forget(key)
  }

  /** Null until the ConfigMap has been read. */
  of(key: string): OrRefusal<Data> | null {
    return this.#objects.of(key)
  }

  close(): Promise<void> {
    return this.#objects.close()
  }
}
