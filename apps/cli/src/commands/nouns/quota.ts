import { call, type Session } from '@spout/client/api'
import { QUOTA_RESOURCES, type QuotaResource } from '@spout/model'
import { type Command, Option } from 'commander'
import { bodyOf } from '../../body.ts'
import { findByName } from '../../lookup.ts'
import { FORMATS, type Format, printList, printOne } from '../../output/print.ts'
import { column, type Field, type Row, wholeNumber } from '../../resources/resource.ts'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'

type Counts = Readonly<Record<QuotaResource, number>>
interface OfClass {
  readonly name: string
  readonly limit: number | null
  readonly used: number
}
type Quota = Row & {
  readonly limits: Counts
  readonly used: Counts
  /** Left out by older control planes. */
  readonly classes?: readonly OfClass[]
}

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

/** Limits by class id. @param named `gold=5`, `silver=none` */
async function classLimits(
  session: Session,
  named: readonly string[],
): Promise<Readonly<Record<string, number | null>>> {
  const limits: Record<string, number | null> = {}
  for (const text of named) {
    const [, name = '', count = ''] = /^(.+)=(\d+|none)$/.exec(text) ?? []
    if (name === '') throw new UsageError(`--class ${text}: is not NAME=COUNT, such as gold=5, gold=0 or gold=none`)
    const { id } = await findByName(session, '/load-balancer-classes', 'load balancer class', name)
    limits[String(id)] = count === 'none' ? null : Number(count)
  }
  return limits
}

/** Adds `spout quota show|set PROJECT`. */
export function addQuota(program: Command, context: CommandContext): void {
  const command = program.command('quota').description('limits of projects, and what they use')
  const output = () => new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table')
  const print = (quota: Quota, { output: format }: { readonly output: Format }): void => {
    const printing = { format, colour: context.colour }
    const rows = [
      ...QUOTA_RESOURCES.map((resource) => ({
        name: wordOf(resource),
        limit: quota.limits[resource],
        used: quota.used[resource],
      })),
      ...(quota.classes ?? []).map(({ name, limit, used }) => ({
        name: `class ${name}`,
        limit: limit ?? 'none',
        used,
      })),
    ]
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
  set.option(
    '--class <name=count>',
    "most load balancers of a class; 0: it may not be used, 'none': no limit of its own; may be repeated",
    (text: string, before: readonly string[] = []) => [...before, text],
  )
  set.action(async (project: string, options: Readonly<Record<string, unknown>> & { readonly output: Format }) => {
    const named = (options.class ?? []) as readonly string[]
    const body = bodyOf(FIELDS, options)
    if (Object.keys(body).length === 0 && named.length === 0)
      throw new UsageError('nothing to change: name a flag (--help lists them)')
    const session = sessionOf(context)
    const classes = named.length === 0 ? {} : { classes: await classLimits(session, named) }
    print(await call<Quota>(session, 'PUT', await quotaPath(session, project), { ...body, ...classes }), options)
  })
}
