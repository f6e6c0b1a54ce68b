import { call, type Session } from '@spout/client/api'
import { type Command, Option } from 'commander'
import { FORMATS, type Format, printList, printOne } from '../output/print.ts'
import type { Row } from '../resources/resource.ts'
import { MOVE_COLUMNS, vip } from '../resources/vips.ts'
import { type CommandContext, sessionOf } from './context.ts'

interface VipOptions {
  readonly output: Format
  readonly lb?: string
  readonly project?: string
  readonly node?: string
}

const output = (): Option =>
  new Option('-o, --output <format>', 'how it is printed').choices([...FORMATS]).default('table')

/** The path of what belongs to an address, `part` such as `/history`. */
export const vipPath = (address: string, part: string, loadBalancer: string | undefined): string =>
  `/vips/${encodeURIComponent(address)}${part}${loadBalancer === undefined ? '' : `?loadBalancer=${encodeURIComponent(loadBalancer)}`}`

/** The id of the object with this name in a query, which takes ids. */
const projectId = async (session: Session, name: string): Promise<string> => {
  const { items } = await call<{ items: readonly Row[] }>(session, 'GET', `/projects?name=${encodeURIComponent(name)}`)
  return String(items[0]?.id ?? name)
}

/** Adds `spout vip list|show|history`. */
export function addVip(program: Command, context: CommandContext): void {
  const command = program.command('vip').description(vip.summary)
  const printing = ({ output: format }: VipOptions) => ({ format, colour: context.colour })
  command
    .command('list')
    .description('lists every address with its owner, announcer and last move')
    .option('--node <node>', 'only what this node announces')
    .option('--project <project>', 'only addresses of this project')
    .addOption(output())
    .action(async (options: VipOptions) => {
      const session = sessionOf(context)
      const query = new URLSearchParams()
      if (options.node !== undefined) query.set('node', options.node)
      if (options.project !== undefined) query.set('project', await projectId(session, options.project))
      const { items } = await call<{ items: readonly Row[] }>(session, 'GET', `/vips?${query}`)
      context.write(printList(items, vip.columns, printing(options)))
    })
  command
    .command('show')
    .description('shows one address')
    .argument('<address>')
    .option('--lb <name>', 'the load balancer that has it, where projects use one address twice')
    .addOption(output())
    .action(async (address: string, options: VipOptions) => {
      const row = await call<Row>(sessionOf(context), 'GET', vipPath(address, '', options.lb))
      context.write(printOne(row, vip.columns, printing(options)))
    })
  command
    .command('history')
    .description('the moves of one address, oldest first, since the control plane started')
    .argument('<address>')
    .option('--lb <name>', 'the load balancer that has it, where projects use one address twice')
    .addOption(output())
    .action(async (address: string, options: VipOptions) => {
      const path = vipPath(address, '/history', options.lb)
      const { items } = await call<{ items: readonly Row[] }>(sessionOf(context), 'GET', path)
      context.write(printList(items, MOVE_COLUMNS, printing(options)))
    })
}
