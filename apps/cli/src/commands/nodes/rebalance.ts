import { setTimeout as sleep } from 'node:timers/promises'
import { call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import type { Command } from 'commander'
import { findByName } from '../../lookup.ts'
import type { Row } from '../../resources/resource.ts'
import { seconds } from '../../seconds.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'

interface Move {
  readonly shard: number
  readonly fromNodeId: string
  readonly toNodeId: string
}

export interface Step extends Move {
  readonly state: 'done' | 'moving' | 'waiting' | 'failed'
  readonly message: string | null
}

interface RebalanceOptions {
  readonly dryRun?: boolean
  readonly timeoutS: number
}

const LOOK_EVERY_MS = 200

/** `shard 3: node1 -> node2` */
export const moveText = ({ shard, fromNodeId, toNodeId }: Move, names: ReadonlyMap<string, string>): string =>
  `shard ${shard}: ${names.get(fromNodeId) ?? fromNodeId} -> ${names.get(toNodeId) ?? toNodeId}`

/** What stopped the moves, for people; null while nothing has. */
export function stoppedBy(steps: readonly Step[]): string | null {
  const failed = steps.find(({ state }) => state === 'failed')
  if (failed === undefined) return null
  const left = steps.filter(({ state }) => state === 'waiting').length
  const rest = left === 0 ? '' : `; ${left} more not begun`
  return `shard ${failed.shard} was not moved: ${failed.message}${rest}`
}

/** Adds `spout node-group rebalance GROUP`. */
export function addRebalance(program: Command, context: CommandContext): void {
  const group = program.commands.find((command) => command.name() === 'node-group')
  if (group === undefined) throw new Error('addRebalance needs the node group commands')
  group
    .command('rebalance')
    .description('moves shards, one after the other, until they are spread evenly over the ready nodes')
    .argument('<name>')
    .option('--dry-run', 'prints the moves without making them')
    .option('--timeout-s <s>', 'how long to wait for all of them', seconds, 300)
    .action(async (name: string, options: RebalanceOptions) => {
      const session = sessionOf(context)
      const { id } = await findByName(session, '/node-groups', 'node group', name)
      const { items } = await call<{ items: readonly Row[] }>(session, 'GET', '/nodes')
      const names = new Map(items.map((node) => [String(node.id), String(node.name)]))
      const { moves } = await call<{ moves: readonly Move[] }>(
        session,
        'POST',
        `/node-groups/${String(id)}/rebalance`,
        { dryRun: options.dryRun === true },
      )
      for (const move of moves) context.write(`${moveText(move, names)}\n`)
      if (moves.length === 0) context.write('The shards are even: nothing moves.\n')
      else if (!options.dryRun) await waitForMoves(session, context, { id: String(id), name, ...options })
    })
}

/** @throws SpoutError InUse when a move failed, or at the time-out */
async function waitForMoves(
  session: Session,
  context: CommandContext,
  { id, name, timeoutS }: { readonly id: string; readonly name: string; readonly timeoutS: number },
): Promise<void> {
  const started = performance.now()
  for (;;) {
    const { steps } = await call<{ steps: readonly Step[] }>(session, 'GET', `/node-groups/${id}/rebalance`)
    const passedS = (performance.now() - started) / 1000
    if (steps.every(({ state }) => state === 'done')) {
      context.write(`Moved ${steps.length} shards in ${passedS.toFixed(1)} s.\n`)
      return
    }
    const stopped = stoppedBy(steps) ?? (passedS >= timeoutS ? `not done after ${timeoutS} s; it goes on` : null)
    if (stopped !== null) throw new SpoutError('InUse', { what: 'node group', id: name, user: stopped })
    await sleep(LOOK_EVERY_MS, undefined, { signal: context.signal })
  }
}
