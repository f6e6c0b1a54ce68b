import { createHash } from 'node:crypto'
import {
  backendPool,
  backendPort,
  type PoolContent,
  type PortReference,
  type Refusal,
  shown,
  someEndpointsLeftOut,
} from '@spout/connector'
import type { PoolOptions } from '../ingress-nginx/pool-options.ts'
import type { Surroundings } from './surroundings.ts'

/** A port of a Service, and the field that names it. */
export interface NamedBackend {
  /** `namespace/name`. */
  readonly service: string
  /** Null: the first port of the Service. */
  readonly port: PortReference | null
  readonly field: string
}

type Tell = (refusal: Refusal) => void

export const PLAIN_POOL: PoolOptions = { persistence: null, tls: undefined }

/** The pools of one load balancer: one for each port of a Service and each set of pool options. */
export class Backends {
  readonly #around: Surroundings
  readonly #pools = new Map<string, PoolContent>()
  /** Names of pools that have no room for all endpoints. */
  readonly #crowded = new Set<string>()
  readonly #services = new Set<string>()

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** `namespace/name` of all requested Services, whether or not they exist. */
  get services(): ReadonlySet<string> {
    return this.#services
  }

  /** The pools with these names, sorted. */
  pools(used: ReadonlySet<string>): readonly PoolContent[] {
    return [...this.#pools.values()].filter(({ name }) => used.has(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Whether a pool has no endpoint. */
  isEmpty(pool: string): boolean {
    return this.#pools.get(pool)?.members.length === 0
  }

  /**
   * The name of a backend's pool; null when it cannot be served. This is reported, and so is a pool that has no room for
   * all endpoints.
   */
  poolOf({ service: key, port, field }: NamedBackend, options: PoolOptions, tell: Tell): string | null {
    this.#services.add(key)
    const service = this.#around.service(key)
    const [first] = service?.spec.ports ?? []
    const wanted = port ?? (first === undefined ? {} : { number: first.port })
    const target = backendPort(service, key, wanted, field)
    if ('refusal' in target) {
      tell(target.refusal)
      return null
    }
    const name = `${key}:${target.value.port}${markOf(options)}`
    if (!this.#pools.has(name)) {
      const { pool, leftOut } = backendPool(name, target.value, this.#around.slices(key), this.#around.families)
      const { persistence, tls } = options
      this.#pools.set(name, { ...pool, persistence, ...(tls === undefined ? {} : { tls }) })
      if (leftOut > 0) this.#crowded.add(name)
    }
    if (this.#crowded.has(name)) tell(someEndpointsLeftOut(`Service ${shown(key)}`, 'http', field))
    return name
  }
}

/** A suffix that tells the pools of one Service apart. It is short, because names have a length limit. */
function markOf({ persistence, tls }: PoolOptions): string {
  if (persistence === null && tls === undefined) return ''
  const text = JSON.stringify([persistence, tls ?? null])
  return ` ${createHash('sha256').update(text).digest('base64url').slice(0, 8)}`
}
