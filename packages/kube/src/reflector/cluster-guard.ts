import type { Clock } from '@spout/runtime'
import { isNotFound, KubeError } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { NAMESPACES, type Namespace, objectPath } from '../types/index.ts'
import type { DeletionGuard } from './deletion-guard.ts'

const PATH = objectPath(NAMESPACES, { name: 'kube-system' })

/**
 * The UID of the kube-system namespace: the nearest thing to a cluster's name. It is kept by a restore from a backup and
 * new in a new cluster.
 *
 * @returns null when we may not read it
 * @throws KubeError, KubeUnreachable
 */
export async function clusterUid(transport: Transport, signal?: AbortSignal): Promise<string | null> {
  try {
    const { metadata } = await transport.request<Namespace>({ method: 'GET', path: PATH, signal })
    return metadata?.uid ?? null
  } catch (error) {
    if (isNotFound(error) || (error instanceof KubeError && error.status === 403)) return null
    throw error
  }
}

/** Notices that the address leads to another cluster than before. */
export class ClusterGuard {
  readonly #transport: Transport
  readonly #clock: Clock
  #uid: string | null
  #foreignUid: string | null = null
  #deletionGuard: DeletionGuard | null = null

  /** @param uid null takes the first that is seen */
  constructor(transport: Transport, clock: Clock, uid: string | null) {
    this.#transport = transport
    this.#clock = clock
    this.#uid = uid
  }

  get uid(): string | null {
    return this.#uid
  }

  /** Not null while another cluster answers. */
  get deletionGuard(): DeletionGuard | null {
    return this.#deletionGuard
  }

  /**
   * Whether the cluster is the one we know, as far as can be said. Nothing of another one may be taken.
   *
   * @param known all keys that are believed to be in our cluster
   */
  async isOurs(known: () => ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    const uid = await clusterUid(this.#transport, signal)
    if (uid !== null) this.#uid ??= uid
    const ours = uid === null || uid === this.#uid
    this.#foreignUid = ours ? null : uid
    if (ours) this.#deletionGuard = null
    else
      this.#deletionGuard = {
        reason: 'other-cluster',
        heldKeys: known(),
        sinceMs: this.#deletionGuard?.sinceMs ?? this.#clock.monotonicMs(),
        lists: (this.#deletionGuard?.lists ?? 0) + 1,
      }
    return ours
  }

  /** The other cluster is the right one from now on. */
  adopt(): void {
    this.#uid = this.#foreignUid ?? this.#uid
  }
}
