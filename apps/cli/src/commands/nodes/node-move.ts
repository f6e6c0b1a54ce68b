import { call } from '@spout/client/api'
import type { Command } from 'commander'
import { findByName } from '../../lookup.ts'
import { at } from '../../resources/resource.ts'
import { seconds } from '../../seconds.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import { setScheduling, stillHeld, waitForNothing } from './node-scheduling.ts'

/** The default `secondChanceSeconds` of a group, and some time to move. */
const TIMEOUT_S = 330

/** Adds `spout node move NAME GROUP`. */
export function addNodeMove(program: Command, context: CommandContext): void {
  const command = program.commands.find((one) => one.name() === 'node')
  if (command === undefined) throw new Error('addNodeMove needs the node commands')
  command
    .command('move')
    .description(
      'moves a node to another group: drains it, waits until it has no address and no clients, and enables it there',
    )
    .argument('<name>')
    .argument('<group>')
    .option('--timeout-s <s>', 'how long to wait', seconds, TIMEOUT_S)
    .action(async (name: string, group: string, { timeoutS }: { readonly timeoutS: number }) => {
      const session = sessionOf(context)
      const node = await findByName(session, '/nodes', 'node', name)
      const target = await findByName(session, '/node-groups', 'node group', group)
      const id = String(node.id)
      if (node.nodeGroupId === target.id) {
        context.write(`${name} is in group ${group} already.\n`)
        return
      }
      const own = String(at(node, 'clusterScheduling.own') ?? node.scheduling)
      await setScheduling(session, id, 'draining')
      await waitForNothing(session, context, { id, name, timeoutS, waitClients: true, addressesAlone: true })
      await call(session, 'PATCH', `/nodes/${id}`, { nodeGroupId: target.id })
      const moved = await setScheduling(session, id, own)
      context.write(`Moved ${name} from group ${node.nodeGroupName} to ${group}.\n`)
      const held = stillHeld(moved, own)
      if (held !== null) context.write(`${held}\n`)
    })
}
