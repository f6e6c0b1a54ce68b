import { call } from '@spout/client/api'
import { type AuditRecord, SpoutError } from '@spout/model'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { FORMATS, type Format, printList } from '../../output/print.ts'
import { column } from '../../resources/resource.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'

interface AuditOptions {
  readonly object?: string
  readonly user?: string
  readonly since?: string
  readonly limit: number
  readonly output: Format
}

interface Page {
  readonly items: readonly AuditRecord[]
  readonly next: string | null
}

const MOST_IN_A_PAGE = 1000
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const COLUMNS = [
  column('TIME', 'time'),
  column('WHO', 'who'),
  column('FROM', 'from'),
  column('WHAT', 'operation'),
  column('OBJECT', 'object'),
  column('RESULT', 'result'),
  column('METHOD', 'method', true),
  column('PROJECT', 'projectId', true),
  column('OBJECT PROJECT', 'objectProjectId', true),
  column('TOKEN', 'token', true),
  column('REQUEST', 'requestId', true),
]

/** A time such as `2026-01-31T12:00:00Z`, or how long ago: `90s`, `15m`, `2h`, `7d`. @returns an RFC 3339 time */
export function sinceTime(text: string, now: Date): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined)
    return new Date(now.getTime() - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]).toISOString()
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('a time such as 2026-01-31T12:00:00Z, or how long ago: 90s, 15m, 2h, 7d')
  return new Date(text).toISOString()
}

const many = (text: string): number => {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a whole number, 1 or more')
  return count
}

/** Adds `spout audit`. */
export function addAudit(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .description('changes and logins, newest first, of your project; for administrators of all projects')
    .option('--object <id>', 'only entries about the object with this id, or its parts')
    .option('--user <user>', 'only entries of the user with this name or id')
    .option('--since <time>', 'a time, or how long ago: 90s, 15m, 2h, 7d', (text) => sinceTime(text, new Date()))
    .option('--limit <count>', 'how many entries at most', many, 100)
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(FORMATS.filter((format) => format !== 'name'))
        .default('table'),
    )
    .action(async (options: AuditOptions) => {
      const records = await recordsOf(context, options)
      const isTable = options.output === 'table' || options.output === 'wide'
      context.write(
        printList(isTable ? records.map(rowOf) : records, COLUMNS, { format: options.output, colour: context.colour }),
      )
    })
}

async function recordsOf(context: CommandContext, options: AuditOptions): Promise<readonly AuditRecord[]> {
  const session = sessionOf(context)
  const records: AuditRecord[] = []
  let before: string | null = null
  do {
    if (context.signal.aborted) throw new SpoutError('Unavailable', { what: 'The audit log', reason: 'interrupted' })
    const query: Record<string, string> = { limit: String(Math.min(options.limit - records.length, MOST_IN_A_PAGE)) }
    for (const name of ['object', 'user', 'since'] as const)
      if (options[name] !== undefined) query[name] = options[name]
    if (before !== null) query.before = before
    const page: Page = await call<Page>(session, 'GET', `/audit?${new URLSearchParams(query)}`)
    records.push(...page.items)
    before = page.next
  } while (before !== null && records.length < options.limit)
  return records
}

const rowOf = (record: AuditRecord) => ({
  ...record,
  who: record.userName ?? (record.method === 'certificate' ? 'node' : null),
  result: record.code === null ? String(record.status) : `${record.status} ${record.code}`,
})
