import { call, type Session } from '@spout/client/api'
import { type Command, Option } from 'commander'
import { FORMATS, type Format, printList, printOne } from '../../output/print.ts'
import type { Row } from '../../resources/resource.ts'
import { MOVE_COLUMNS, vip } from '../../resources/vips.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'

interface VipOptions {
  readonly output: Format
  readonly lb?: string
  readonly project?: string
  readonly node?: string
}

const output = (): Option => new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table')

/** Selects one address if projects use it twice: by the load balancer's name or id, or by the project's. */
export interface VipChoice {
  readonly lb?: string
  readonly project?: string
}

/** The path of a part of an address, such as `/history`. */
export async function vipPath(session: Session, address: string, part: string, choice: VipChoice): Promise<string> {
  const query = new URLSearchParams()
  if (choice.lb !== undefined) query.set('loadBalancer', choice.lb)
  if (choice.project !== undefined) query.set('project', await projectId(session, choice.project))
  return `/vips/${encodeURIComponent(address)}${part}${query.size === 0 ? '' : `?${query}`}`
}

/** The id of the named object, for a query that takes ids. */
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
  ofOneAddress(command.command('show').description('shows one address')).action(
    async (address: string, options: VipOptions) => {
      const session = sessionOf(context)
      const row = await call<Row>(session, 'GET', await vipPath(session, address, '', options))
      context.write(printOne(row, vip.columns, printing(options)))
    },
  )
  const moves = 'lists the moves of one address, oldest first, since the control plane started'
  ofOneAddress(command.command('history').description(moves)).action(async (address: string, options: VipOptions) => {
    const session = sessionOf(context)
    const path = await vipPath(session, address, '/history', options)
    const { items } = await call<{ items: readonly Row[] }>(session, 'GET', path)
    context.write(printList(items, MOVE_COLUMNS, printing(options)))
  })
}

const ofOneAddress = (command: Command): Command =>
  command
    .argument('<address>')
    .option('--lb <name>', 'the load balancer with the address, if several projects use it')
    .option('--project <project>', 'the project with the address, if several use it')
    .addOption(output())
