import { isDeepStrictEqual } from 'node:util'
import type { VrrpNode } from './vrrp-node.ts'

const signal = new AbortController().signal

/**
 * Whether each of two nodes is master of its own shard; helps it on. Who began first has taken both where the other was
 * late, and keeps them: nothing goes back by itself.
 */
export async function areSpread([first, second]: readonly [VrrpNode, VrrpNode]): Promise<boolean> {
  const [ofFirst, ofSecond] = [first, second].map(({ announcer }) => announcer.shards().map(({ state }) => state))
  if (
    isDeepStrictEqual(
      [ofFirst, ofSecond],
      [
        ['master', 'backup'],
        ['backup', 'master'],
      ],
    )
  )
    return true
  if (
    isDeepStrictEqual(
      [ofFirst, ofSecond],
      [
        ['backup', 'backup'],
        ['master', 'master'],
      ],
    )
  )
    await second.announcer.handOver(1, signal)
  if (
    isDeepStrictEqual(
      [ofFirst, ofSecond],
      [
        ['master', 'master'],
        ['backup', 'backup'],
      ],
    )
  )
    await first.announcer.handOver(2, signal)
  return false
}
