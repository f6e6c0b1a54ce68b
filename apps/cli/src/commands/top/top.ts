import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceStats } from '@spout/model'
import { type Command, Option } from 'commander'
import { findByName, listOf, scopedTo } from '../../lookup.ts'
import { FORMATS, type Format, printList } from '../../output/print.ts'
import { type Counts, countsOf, NOTHING, ratesOf, type Sample } from '../../rates.ts'
import { at, type Column, column, type Row } from '../../resources/resource.ts'
import { seconds } from '../../seconds.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import { countsById, PART_NAMES, PARTS, type Part, partRows } from './request-parts.ts'
import { PART_RATES, PART_TOTALS, RATES, TOTALS, withLatencies } from './stats-columns.ts'

/** Nodes tell counters every five seconds. */
const EVERY_S = 10
/** Clears the screen and goes to its first place (ECMA-48, ED and CUP). */
const CLEAR = '\u001b[2J\u001b[H'

interface TopOptions {
  readonly output: Format
  readonly project?: string
  readonly every: number
  readonly once?: boolean
  readonly watch?: boolean
  readonly by?: Part
}

const NAMED = column('NAME', 'name')
const SERVING = column('SERVING', 'serving')
const LISTENER = [NAMED, column('PROTOCOL', 'protocol'), column('PORT', 'port')]

const statsOf = (row: Row): readonly ServiceStats[] =>
  Object.values((at(row, 'status.stats') ?? {}) as Readonly<Record<string, ServiceStats>>)

const sampleOf = (rows: readonly Row[], of: (row: Row) => readonly ServiceStats[]): Sample => ({
  atMs: performance.now(),
  counts: new Map(rows.map((row) => [String(row.id), countsOf(of(row))])),
})

/** A row for each load balancer with what it did per second between two samples, the busiest first. Pure. */
const busiest = (rows: readonly Row[], before: Sample, after: Sample): readonly Row[] =>
  rows
    .flatMap((row) => {
      const counts = ratesOf(String(row.id), before, after)
      return counts === null ? [] : [{ id: row.id, name: row.name, serving: at(row, 'status.serving.state'), counts }]
    })
    .toSorted(
      ({ counts: a }, { counts: b }) =>
        b.requests - a.requests || b.connections - a.connections || b.bytesOut - a.bytesOut,
    )

/** Adds `spout top` and `spout lb stats`. */
export function addTop(program: Command, context: CommandContext): void {
  addTopCommand(program, context)
  addStatsCommand(program, context)
}

/** The options of both. */
const withCommonOptions = (command: Command): Command =>
  command
    .option('--project <project>', 'only what is of this project')
    .option('--every <seconds>', 'how long is counted for each table', seconds, EVERY_S)
    .addOption(
      new Option('--by <part>', 'requests by pool or by route, of listeners that count them').choices([...PARTS]),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table'))

function addTopCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('top').description('shows what load balancers do now, the busiest first'))
    .option('--once', 'prints one table')
    .action(async (options: TopOptions) => {
      const scoped = await scopedTo(sessionOf(context), options.project)
      if (options.by !== undefined)
        return watchParts(context, options, {
          names: [column('LOAD BALANCER', 'loadBalancer'), ...PART_NAMES[options.by]],
          look: async () => partRows(scoped, await listOf(scoped, '/load-balancers'), options.by!),
        })
      let before = sampleOf(await listOf(scoped, '/load-balancers'), statsOf)
      while (await pause(options.every, context.signal)) {
        const rows = await listOf(scoped, '/load-balancers')
        const after = sampleOf(rows, statsOf)
        const printing = { format: options.output, colour: context.colour }
        const shown = busiest(rows, before, after)
        const table = printList(shown, [NAMED, ...withLatencies(RATES, shown), SERVING], printing)
        context.write(`${context.colour && !options.once ? CLEAR : ''}${table}`)
        if (options.once) return
        before = after
      }
    })
}

function addStatsCommand(program: Command, context: CommandContext): void {
  const lb = program.commands.find((command) => command.name() === 'lb')
  if (lb === undefined) throw new Error('there is no noun lb')
  withCommonOptions(
    lb.command('stats').description('shows what the listeners of one load balancer counted').argument('<name>'),
  )
    .option('-w, --watch', 'prints what they do per second, again and again')
    .action(async (name: string, options: TopOptions) => {
      const scoped = await scopedTo(sessionOf(context), options.project)
      const printing = { format: options.output, colour: context.colour }
      const { by } = options
      if (by !== undefined) {
        const own = async () => [await findByName(scoped, '/load-balancers', 'load balancer', name)]
        const look = async () => partRows(scoped, await own(), by)
        if (options.watch) return watchParts(context, options, { names: PART_NAMES[by], look })
        const rows = busiestFirst(await look())
        return context.write(printList(rows, [...PART_NAMES[by], ...PART_TOTALS], printing))
      }
      const look = async () => {
        const row = await findByName(scoped, '/load-balancers', 'load balancer', name)
        const listeners = row.listeners as readonly Row[]
        const stats = statsOf(row)
        const sample = sampleOf(listeners, ({ id }) => stats.filter(({ listenerId }) => listenerId === id))
        return { listeners, sample }
      }
      const table = (listeners: readonly Row[], of: (id: string) => Counts | null, columns: readonly Column[]) => {
        const rows = listeners.flatMap(({ id, name: called, protocol, port }) => {
          const counts = of(String(id))
          return counts === null ? [] : [{ id, name: called, protocol, port, counts }]
        })
        context.write(printList(rows, [...LISTENER, ...withLatencies(columns, rows)], printing))
      }
      const first = await look()
      let before = first.sample
      if (!options.watch) return table(first.listeners, (id) => before.counts.get(id) ?? null, TOTALS)
      while (await pause(options.every, context.signal)) {
        const { listeners, sample } = await look()
        table(listeners, (id) => ratesOf(id, before, sample), RATES)
        before = sample
      }
    })
}

/** Prints what was done by pool or by route per second, again and again. */
async function watchParts(
  context: CommandContext,
  { every, once, output }: TopOptions,
  { names, look }: { readonly names: readonly Column[]; readonly look: () => Promise<readonly Row[]> },
): Promise<void> {
  const sampled = (rows: readonly Row[]): Sample => ({ atMs: performance.now(), counts: countsById(rows) })
  let before = sampled(await look())
  while (await pause(every, context.signal)) {
    const rows = await look()
    const sample = sampled(rows)
    const rates = (row: Row) => ratesOf(String(row.id), before, sample, NOTHING) ?? NOTHING
    const shown = busiestFirst(rows.map((row) => ({ ...row, counts: rates(row) })))
    const table = printList(shown, [...names, ...PART_RATES], { format: output, colour: context.colour })
    context.write(`${context.colour && !once ? CLEAR : ''}${table}`)
    if (once) return
    before = sample
  }
}

const busiestFirst = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted(({ counts: a }, { counts: b }) => (b as Counts).requests - (a as Counts).requests)

/** @returns false if it was interrupted */
const pause = (waitS: number, signal: AbortSignal): Promise<boolean> =>
  sleep(waitS * 1000, true, { signal }).catch(() => false)
