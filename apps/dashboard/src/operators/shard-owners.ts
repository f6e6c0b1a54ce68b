import type { ShardMove, ShardReport } from '@spout/model/node-report'
import type { ShownNode } from '../api/nodes.ts'

/** A shard of a node group, as the nodes report it. */
export interface ShardView {
  readonly number: number
  /** The nodes that are its master: one, unless something is wrong or it moves. */
  readonly masters: readonly ShownNode[]
  /** Without a master: the nodes that were it when they last reported. They may go on announcing. */
  readonly silentMasters: readonly ShownNode[]
  readonly backups: readonly ShownNode[]
  /** Nodes on which it failed or is stopped. */
  readonly out: readonly { readonly node: ShownNode; readonly shard: ShardReport }[]
  /** The last takeover by a present master; null if none is known. */
  readonly lastMove: (ShardMove & { readonly node: ShownNode }) | null
}

/**
 * The shards of a group's nodes, by number. What a node said before it fell silent counts only where no other node is
 * master.
 */
export function shardsOf(nodes: readonly ShownNode[]): readonly ShardView[] {
  const alive = nodes.filter(({ status }) => status.connection === 'connected')
  const silent = nodes.filter(({ status }) => status.connection !== 'connected')
  const numbers = new Set(nodes.flatMap(({ status }) => status.shards.map(({ number }) => number)))
  return [...numbers]
    .sort((a, b) => a - b)
    .map((number) => {
      const parts = alive.flatMap((node) =>
        node.status.shards.filter((shard) => shard.number === number).map((shard) => ({ node, shard })),
      )
      const inState = (state: ShardReport['state']) =>
        parts.filter(({ shard }) => shard.state === state).map(({ node }) => node)
      const masters = inState('master')
      return {
        number,
        masters,
        silentMasters: masters.length > 0 ? [] : silent.filter((node) => isMaster(node, number)),
        backups: inState('backup'),
        out: parts.filter(({ shard: { state } }) => state === 'fault' || state === 'stopped'),
        lastMove: lastTakeover(parts),
      }
    })
}

const isMaster = ({ status }: ShownNode, number: number): boolean =>
  status.shards.some((shard) => shard.number === number && shard.state === 'master')

function lastTakeover(parts: readonly { readonly node: ShownNode; readonly shard: ShardReport }[]) {
  const moves = parts.flatMap(({ node, shard: { state, lastMove } }) =>
    state === 'master' && lastMove?.to === 'master' ? [{ ...lastMove, node }] : [],
  )
  return moves.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))[0] ?? null
}
