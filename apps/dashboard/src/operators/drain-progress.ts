import type { ShownNode } from '../api/nodes.ts'

/** The drain is over. */
export const DRAINED = 'drained'

/** How far the drain of a node is, in words; null for a node that is not drained. */
export function drainProgress({
  scheduling,
  drainBegunAt,
  status,
}: Pick<ShownNode, 'scheduling' | 'drainBegunAt' | 'status'>) {
  if (scheduling !== 'draining') return null
  const { announced, shards, departure, connection } = status
  if (connection !== 'connected') return 'it does not report'
  const owned = shards.filter(({ state }) => state === 'master').length
  if (owned > 0)
    return drainBegunAt === null ? 'waits for another node' : `${owned} ${owned === 1 ? 'shard' : 'shards'} left`
  if (announced > 0) return `${announced} ${announced === 1 ? 'address' : 'addresses'} left`
  const busy = departure?.busyProxies ?? 0
  return busy > 0 ? `${busy} ${busy === 1 ? 'proxy has' : 'proxies have'} clients` : DRAINED
}
