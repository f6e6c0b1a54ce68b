import type { VrrpNode } from './vrrp-node.ts'

const signal = new AbortController().signal

/**
 * Whether each of two nodes is master of its own shard; helps it on. Who began first has taken both where the other was
 * late, and keeps them: nothing goes back by itself.
 */
export async function areSpread([first, second]: readonly [VrrpNode, VrrpNode]): Promise<boolean> {
  const [first1, first2, second1, second2] = [first, second].flatMap(({ announcer }) =>
    announcer.shards().map(({ state }) => state),
  )
  if (first1 === 'backup' && second1 === 'master') await second.announcer.handOver(1, signal)
  if (second2 === 'backup' && first2 === 'master') await first.announcer.handOver(2, signal)
  return first1 === 'master' && second1 === 'backup' && first2 === 'backup' && second2 === 'master'
}
