import { setTimeout as sleep } from 'node:timers/promises'
import { call, type Session } from '@spout/client/api'
import type { DrainPreview } from '@spout/model'
import { SpoutError } from '@spout/model/errors'
import type { ProxyDrainReport } from '@spout/model/node-report'
import { type Command, Option } from 'commander'
import { findByName } from '../../lookup.ts'
import { drainText } from '../../output/drain-text.ts'
import { DATA_FORMATS, type DataFormat, printData } from '../../output/print-data.ts'
import { at, type Row } from '../../resources/resource.ts'
import { seconds } from '../../seconds.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'

interface DrainOptions {
  readonly dryRun?: boolean
  readonly output: DataFormat
  readonly wait?: boolean
  readonly waitClients?: boolean
  readonly timeoutS: number
}

const LOOK_EVERY_MS = 200
/** A node that drains reports its clients within this time. */
const REPORTS_WITHIN_S = 5

/**
 * What the node still owns, for people; null when nothing.
 * @param vips how many addresses it answers for, not counting those that it only holds ready as a backup
 */
export function stillOwned(node: Row, vips: number): string | null {
  const shards = (at(node, 'status.shards') ?? []) as readonly { readonly number: number; readonly state: string }[]
  const masters = shards.filter(({ state }) => state === 'master').map(({ number }) => number)
  if (masters.length === 0 && vips === 0) return null
  return [...(masters.length > 0 ? [`shard ${masters.join(', ')}`] : []), `${vips} VIPs`].join(' and ')
}

/**
 * Clients that its proxies still serve, for people; null when there are none, or when they are not waited for.
 * @param early the node may not have reported yet that it drains
 */
export function stillServed(node: Row, early: boolean): string | null {
  const departure = at(node, 'status.departure') as ProxyDrainReport | null | undefined
  const mine = departure?.since === node.drainedSince ? departure : null
  if (mine == null) return early ? 'clients of its proxies' : null
  if (mine.busyProxies === 0) return null
  return mine.busyProxies === null ? 'clients of its proxies' : `clients of ${mine.busyProxies} proxies`
}

/** That its cluster keeps the node out of use, although an administrator asked for something else; null: it does not. */
export function stillHeld(node: Row, asked: string): string | null {
  if (node.scheduling === asked) return null
  const reason = at(node, 'clusterScheduling.reason')
  return `${node.name} stays ${node.scheduling} for its Kubernetes cluster: ${reason}. It will be ${asked} when that ends.`
}

/** Adds `spout node drain|undrain|cordon|uncordon NAME`. */
export function addNodeScheduling(program: Command, context: CommandContext): void {
  const node = program.commands.find((command) => command.name() === 'node')
  if (node === undefined) throw new Error('addNodeScheduling needs the node commands')
  const schedule = async (session: Session, name: string, scheduling: string): Promise<Row> => {
    const { id } = await findByName(session, '/nodes', 'node', name)
    return setScheduling(session, String(id), scheduling)
  }
  node
    .command('drain')
    .description('moves everything off a node, and places nothing new on it')
    .argument('<name>')
    .option('--wait', 'waits until it owns no shard and announces no VIP')
    .option('--wait-clients', 'also waits until its proxies have no clients left')
    .option('--timeout-s <s>', 'how long to wait', seconds, 60)
    .addOption(
      new Option('--dry-run', 'says what would move where, and does nothing').conflicts(['wait', 'waitClients']),
    )
    .addOption(new Option('-o, --output <format>', 'output format of --dry-run').choices(DATA_FORMATS).default('text'))
    .action(async (name: string, options: DrainOptions, command: Command) => {
      if (!options.dryRun && command.getOptionValueSource('output') === 'cli')
        command.error("error: option '-o, --output <format>' needs option '--dry-run'")
      const session = sessionOf(context)
      if (options.dryRun) {
        const preview = await previewDrain(session, name)
        return context.write(printData(preview, options.output, () => drainText(preview, context.colour)))
      }
      const id = String((await schedule(session, name, 'draining')).id)
      const { wait = false, waitClients = false, timeoutS } = options
      if (wait || waitClients) await waitForNothing(session, context, { id, name, timeoutS, waitClients })
      else context.write(`Draining ${name}.\n`)
    })
  for (const [verb, scheduling, description, said] of [
    ['undrain', 'enabled', 'lets a drained node carry load balancers again; nothing moves back by itself', 'Enabled'],
    ['cordon', 'cordoned', 'keeps what a node has, and places nothing new on it', 'Cordoned'],
    ['uncordon', 'enabled', 'lets a cordoned node take new work again', 'Enabled'],
  ] as const)
    node
      .command(verb)
      .description(description)
      .argument('<name>')
      .action(async (name: string) => {
        const node = await schedule(sessionOf(context), name, scheduling)
        context.write(`${stillHeld(node, scheduling) ?? `${said} ${name}.`}\n`)
      })
}

export const setScheduling = (session: Session, id: string, scheduling: string): Promise<Row> =>
  call<Row>(session, 'PUT', `/nodes/${id}/scheduling`, { scheduling })

async function previewDrain(session: Session, name: string): Promise<DrainPreview> {
  const { id } = await findByName(session, '/nodes', 'node', name)
  return call<DrainPreview>(session, 'PUT', `/nodes/${id}/scheduling?dryRun=true`, { scheduling: 'draining' })
}

interface Wait {
  readonly id: string
  readonly name: string
  readonly timeoutS: number
  readonly waitClients: boolean
  /** Whether shards without addresses do not count. The only node of a group keeps them. */
  readonly addressesAlone?: boolean
}

/** @throws SpoutError InUse when it still owns something at the time-out */
export async function waitForNothing(
  session: Session,
  context: CommandContext,
  { id, name, timeoutS, waitClients, addressesAlone = false }: Wait,
): Promise<void> {
  const started = performance.now()
  for (;;) {
    const node = await call<Row>(session, 'GET', `/nodes/${id}`)
    const { items: vips } = await call<{ items: readonly Row[] }>(session, 'GET', `/vips?node=${id}`)
    const passedS = (performance.now() - started) / 1000
    const served = waitClients ? stillServed(node, passedS < REPORTS_WITHIN_S) : null
    const own = addressesAlone && vips.length === 0 ? null : stillOwned(node, vips.length)
    const owned = [own, served].filter((words) => words !== null).join(' and ') || null
    if (owned === null) {
      const what = waitClients ? 'owns nothing and serves no clients' : 'owns nothing'
      context.write(`${name} ${what} any more after ${passedS.toFixed(1)} s.\n`)
      return
    }
    if (passedS >= timeoutS)
      throw new SpoutError('InUse', {
        what: 'node',
        id: name,
        user: `${owned} after ${timeoutS} s; it goes on draining`,
      })
    await sleep(LOOK_EVERY_MS, undefined, { signal: context.signal })
  }
}
