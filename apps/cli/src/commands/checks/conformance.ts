import { randomInt } from 'node:crypto'
import { ApiProblem } from '@spout/client/api'
import type { Part, Result, TrafficMember } from '@spout/octavia-conformance'
import { printable } from '@spout/runtime/printable'
import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumber } from '../../resources/resource.ts'
import { type CommandContext, UsageError } from '../connections/context.ts'
import { cloudClient } from '../connections/openstack-cloud.ts'

interface Options {
  readonly osCloud?: string
  readonly otherOsCloud?: string
  readonly endpoint?: string
  readonly subnet?: string
  readonly network?: string
  readonly memberPrefix: string
  readonly trafficMember?: TrafficMember
  readonly seed?: number
  readonly only?: readonly string[]
  readonly timeout: number
  readonly json: boolean
}

const CLEAN_UP_MS = 300_000
const MOST_SEEDS = 2 ** 32

const prefix = (text: string): string => {
  if (!/^\d{1,3}(\.\d{1,3}){2}$/.test(text)) throw new InvalidArgumentError('three numbers, such as 10.0.0')
  return text
}

const member = (text: string): TrafficMember => {
  const at = text.lastIndexOf(':')
  const port = Number(text.slice(at + 1))
  if (at < 1 || !Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError('ADDRESS:PORT')
  return { address: text.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port }
}

/** Adds `spout conformance`. It needs no Spout: any Octavia is checked, as a tenant of it. */
export function addConformance(program: Command, context: CommandContext): void {
  program
    .command('conformance')
    .description('checks an Octavia API as a tenant: makes load balancers of every kind, compares, and deletes them')
    .option('--os-cloud <name>', 'the cloud of clouds.yaml to check; default: OS_CLOUD, else the OS_* variables')
    .option('--other-os-cloud <name>', 'the same cloud with another project, which must see nothing of the first')
    .option('--endpoint <url>', 'base URL of its Octavia, instead of that of the catalog; alone: asked without a token')
    .option('--subnet <id>', 'where VIPs come from')
    .option('--network <id>', 'where VIPs come from, instead of a subnet')
    .option('--member-prefix <a.b.c>', 'addresses of members begin so; nothing is sent to them', prefix, '192.0.2')
    .option('--traffic-member <address:port>', 'a member that accepts TCP; VIPs must be reached from here', member)
    .option('--seed <number>', 'order of deletion, as an earlier run printed it', wholeNumber)
    .option(
      '--only <part...>',
      'checks these after load balancers: projects, pools, listeners, lists, graphs, traffic, deletion',
    )
    .option('--timeout <seconds>', 'how long a load balancer may be PENDING', wholeNumber, 300)
    .option('--json', 'prints a JSON document', false)
    .action((options: Options) => conformance(options, context))
}

async function conformance(options: Options, context: CommandContext): Promise<void> {
  const { subnet, network, otherOsCloud, json } = options
  if ((subnet === undefined) === (network === undefined)) throw new UsageError('name one of --subnet and --network')
  // Loaded only here: other commands start faster without them.
  const { cleanUp, PARTS, randomFrom, report, runChecks } = await import('@spout/octavia-conformance')
  const unknown = options.only?.find((part) => !(PARTS as readonly string[]).includes(part))
  if (unknown !== undefined) throw new UsageError(`--only: there is no part ${unknown}: ${PARTS.join(', ')}`)
  const client = await cloudClient(options, context)
  // Created objects are deleted also after an interruption.
  const cleaner = await cloudClient(options, context, AbortSignal.any([]))
  const stranger = otherOsCloud === undefined ? null : await cloudClient({ ...options, osCloud: otherOsCloud }, context)
  const seed = options.seed ?? randomInt(MOST_SEEDS)
  const names = `conformance-${seed}`
  const results: Result[] = []
  if (!json) context.write(`seed ${seed}\n`)
  let left: readonly string[] = []
  try {
    await runChecks({
      ...{ client, stranger, prefix: names, settleMs: options.timeout * 1000, random: randomFrom(seed) },
      ...{ signal: context.signal, trafficMember: options.trafficMember ?? null },
      parts: new Set((options.only as readonly Part[] | undefined) ?? PARTS),
      vip: subnet === undefined ? { vip_network_id: network } : { vip_subnet_id: subnet },
      memberAddress: (number) => `${options.memberPrefix}.${number + 10}`,
      onResult: (result) => results.push(result),
    })
  } catch (error) {
    if (!context.signal.aborted) throw error
  } finally {
    left = await cleanUp(cleaner, names, CLEAN_UP_MS)
  }
  if (json) context.write(`${JSON.stringify({ seed, results, left }, null, 2)}\n`)
  else context.write(`${report(results).split('\n').map(printable).join('\n')}\n`)
  const failed = results.filter(({ outcome }) => outcome === 'failed').length
  if (left.length > 0) throw new ApiProblem(422, `could not be deleted: ${left.join(', ')}`, null)
  if (context.signal.aborted) throw new ApiProblem(422, `interrupted after ${results.length} checks`, null)
  if (failed > 0) throw new ApiProblem(422, `${failed} of ${results.length} checks failed`, null)
}
