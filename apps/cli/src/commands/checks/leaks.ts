import { ApiProblem, call, type Session } from '@spout/client/api'
import { type Command, Option } from 'commander'
import { FORMATS, type Format, printList } from '../../output/print.ts'
import { column, type Row } from '../../resources/resource.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import type { Leftover, Listed } from './leaks-of.ts'

const COLUMNS = [
  column('KIND', 'kind'),
  column('NAME', 'name'),
  column('WHY', 'reason'),
  { title: 'LEAKS', value: ({ leaks }: Row) => (leaks === true ? 'yes' : 'no') },
  column('PROJECT', 'projectId', true),
  column('ID', 'id', true),
]

/**
 * Adds `spout leaks`. It looks through everything that the token may read: its own project, or all for an administrator.
 * The exit status is 1 when something leaks.
 */
export function addLeaks(program: Command, context: CommandContext): void {
  program
    .command('leaks')
    .description('lists what is left: addresses that nothing uses, and certificates that nobody names')
    .addOption(new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table'))
    .action(async ({ output: format }: { readonly output: Format }) => {
      const session = sessionOf(context)
      const left = await leftovers(session)
      context.write(
        printList(
          left.map((one) => ({ ...one })),
          COLUMNS,
          { format, colour: context.colour },
        ),
      )
      const leaks = left.filter((one) => one.leaks).length
      if (leaks > 0) throw new ApiProblem(422, leaks === 1 ? '1 object leaks' : `${leaks} objects leak`, null)
    })
}

/** The lists are read one after the other, not at one moment: only what a second look finds again counts. */
async function leftovers(session: Session): Promise<readonly Leftover[]> {
  // Loaded only here: other commands start faster without the planner.
  const { leftoversOf } = await import('./leaks-of.ts')
  const first = leftoversOf(await listed(session))
  if (first.length === 0) return first
  const again = new Set(leftoversOf(await listed(session)).map(({ id, reason }) => `${id} ${reason}`))
  return first.filter(({ id, reason }) => again.has(`${id} ${reason}`))
}

async function listed(session: Session): Promise<Listed> {
  const items = async <T>(path: string) => (await call<{ items: T }>(session, 'GET', path)).items
  return {
    loadBalancers: await items<Listed['loadBalancers']>('/load-balancers'),
    addresses: await items<Listed['addresses']>('/addresses'),
    certificates: await items<Listed['certificates']>('/certificates'),
  }
}
