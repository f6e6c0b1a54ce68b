import { call, type Session } from '@spout/client/api'
import { QUOTA_RESOURCES, type QuotaResource } from '@spout/model'
import { type Command, Option } from 'commander'
import { bodyOf } from '../body.ts'
import { findByName } from '../lookup.ts'
import { FORMATS, type Format, printList, printOne } from '../output/print.ts'
import { column, type Field, type Row, wholeNumber } from '../resources/resource.ts'
import { type CommandContext, sessionOf, UsageError } from './context.ts'

type Counts = Readonly<Record<QuotaResource, number>>
type Quota = Row & { readonly limits: Counts; readonly used: Counts }

const COLUMNS = [column('RESOURCE', 'name'), column('LIMIT', 'limit'), column('USED', 'used')]

/** `loadBalancers` as a flag and for people: `load-balancers`. */
const wordOf = (resource: string): string => resource.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const FIELDS: readonly Field[] = QUOTA_RESOURCES.map((resource) => ({
  flags: `--${wordOf(resource)} <count>`,
  description: `most ${wordOf(resource).replace('-', ' ')}`,
  field: `limits.${resource}`,
  parse: wholeNumber,
}))

const quotaPath = async (session: Session, project: string): Promise<string> =>
  `/projects/${String((await findByName(session, '/projects', 'project', project)).id)}/quota`

/** Adds `spout quota show|set PROJECT`. */
export function addQuota(program: Command, context: CommandContext): void {
  const command = program.command('quota').description('limits of projects, and what they use')
  const output = () => new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table')
  const print = (quota: Quota, { output: format }: { readonly output: Format }): void => {
    const printing = { format, colour: context.colour }
    const rows = QUOTA_RESOURCES.map((resource) => ({
      name: wordOf(resource),
      limit: quota.limits[resource],
      used: quota.used[resource],
    }))
    context.write(
      format === 'json' || format === 'yaml' ? printOne(quota, [], printing) : printList(rows, COLUMNS, printing),
    )
  }
  command
    .command('show')
    .description('shows the limits of one project, and what it uses')
    .argument('<project>')
    .addOption(output())
    .action(async (project: string, options: { readonly output: Format }) => {
      const session = sessionOf(context)
      print(await call<Quota>(session, 'GET', await quotaPath(session, project)), options)
    })
  const set = command
    .command('set')
    .description('sets limits of one project; other limits stay')
    .argument('<project>')
    .addOption(output())
  for (const { flags, description } of FIELDS) set.option(flags, description)
  set.action(async (project: string, options: Readonly<Record<string, unknown>> & { readonly output: Format }) => {
    const body = bodyOf(FIELDS, options)
    if (Object.keys(body).length === 0) throw new UsageError('nothing to change: name a flag (--help lists them)')
    const session = sessionOf(context)
    print(await call<Quota>(session, 'PUT', await quotaPath(session, project), body), options)
  })
}
