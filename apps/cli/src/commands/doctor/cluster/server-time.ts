import { LEASES } from '@spout/kube'
import { changedAt } from './objects.ts'
import type { ClusterPlace } from './place.ts'

/**
 * The API server's clock, in milliseconds, not earlier than some ten seconds ago: when it last took a node's lease, which
 * kubelets renew that often. The reader's own clock may be wrong.
 * @returns null without a node
 */
export async function serverTime(place: ClusterPlace): Promise<number | null> {
  const leases = await place.list(LEASES, { namespace: 'kube-node-lease' })
  const times = leases.flatMap((lease) => changedAt(lease) ?? [])
  return times.length === 0 ? null : Math.max(...times)
}
