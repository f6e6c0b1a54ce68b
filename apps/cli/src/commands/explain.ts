import { call } from '@spout/client/api'
import type { Command } from 'commander'
import { findByName } from '../lookup.ts'
import { type CommandContext, sessionOf } from './context.ts'
import { explainText } from './explain-text.ts'
import type { Explanation } from './explanation.ts'

/** Adds `spout explain lb NAME`. */
export function addExplain(program: Command, context: CommandContext): void {
  program
    .command('explain')
    .description('says why something is as it is')
    .command('lb')
    .description('the path of a load balancer hop by hop, with reasons')
    .argument('<name>')
    .option('--json', 'as data')
    .action(async (name: string, options: { readonly json?: boolean }) => {
      const session = sessionOf(context)
      const { id } = await findByName(session, '/load-balancers', 'load balancer', name)
      const explanation = await call<Explanation>(session, 'GET', `/load-balancers/${String(id)}/explain`)
      context.write(
        options.json ? `${JSON.stringify(explanation, null, 2)}\n` : explainText(explanation, context.colour),
      )
    })
}
