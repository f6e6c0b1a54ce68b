import { type BackendPool, backendPool, type Family, type PoolContent } from '@spout/connector'
import type { EndpointSlice } from '@spout/kube'
import { poolTls } from '@spout/model'
import type { Backend } from '../to-model/backends/backends.ts'
import type { Cluster } from './cluster.ts'

interface Kept {
  readonly backend: Backend
  readonly slices: readonly EndpointSlice[]
  readonly families: readonly Family[]
  readonly made: BackendPool
}

/**
 * Makes the pools of one Gateway's backends and keeps them. A pool stays the same object until its backend, slices or
 * families change, so that an unchanged pool costs nothing.
 */
export class BackendPools {
  readonly #cluster: Pick<Cluster, 'slicesOf'>
  readonly #kept = new Map<string, Kept>()

  constructor(cluster: Pick<Cluster, 'slicesOf'>) {
    this.#cluster = cluster
  }

  /** @param families that members can have */
  poolOf(name: string, backend: Backend, families: readonly Family[]): BackendPool {
    const slices = this.#cluster.slicesOf(backend.service)
    const known = this.#kept.get(name)
    if (known?.backend === backend && areSame(known.slices, slices) && areSame(known.families, families))
      return known.made
    const { pool, leftOut } = backendPool(name, backend.port, slices, families, backend.protocol)
    const made = { pool: { ...pool, ...spokenTo(backend) }, leftOut }
    this.#kept.set(name, { backend, slices, families, made })
    return made
  }
}

const areSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at])

/** The protocol in which the proxy speaks to members. With TLS, ALPN settles the version of HTTP. */
function spokenTo({ http2, tls = null }: Backend): Pick<PoolContent, 'http2' | 'tls'> {
  if (tls === null) return http2 ? { http2 } : {}
  return { tls: poolTls.parse({ ...tls, alpn: [http2 ? 'h2' : 'http/1.1'] }) }
}
