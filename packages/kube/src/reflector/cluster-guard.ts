import type { Clock } from '@spout/runtime'
import { isNotFound, KubeError } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { NAMESPACES, type Namespace, objectPath } from '../types/index.ts'
import type { DeletionGuard } from './deletion-guard.ts'

const PATH = objectPath(NAMESPACES, { name: 'kube-system' })

/**
 * The UID of the kube-system namespace, which identifies the cluster. A cluster that was restored from a backup has the
 * same; a new cluster has another.
 *
 * @returns null when our account may not read it
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

/** Detects that another cluster answers at the address of ours. */
export class ClusterGuard {
  readonly #transport: Transport
  readonly #clock: Clock
  #uid: string | null
  #foreignUid: string | null = null
  #deletionGuard: DeletionGuard | null = null

  /** @param uid the UID of our cluster; null accepts the first one that is read */
  constructor(transport: Transport, clock: Clock, uid: string | null) {
    this.#transport = transport
    this.#clock = clock
    this.#uid = uid
  }

  get uid(): string | null {
    return this.#uid
  }

  /** Set while another cluster answers; null otherwise. */
  get deletionGuard(): DeletionGuard | null {
    return this.#deletionGuard
  }

  /**
   * Whether our cluster still answers; true when its UID may not be read. Objects of another cluster must not be taken.
   *
   * @param known all keys that count as present in our cluster
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

  /** Accepts the other cluster as ours from now on. */
  adopt(): void {
    this.#uid = this.#foreignUid ?? this.#uid
  }
}
