import { ApiProblem, answeringEndpoint, call, type Session } from '@spout/client/api'
import type { OctaviaClient as OctaviaClientType } from '@spout/octavia-client'
import type { Destination, Inventory, Outcome, Step, Surroundings } from '@spout/octavia-import'
import { printable } from '@spout/runtime/printable'
import { type Command, InvalidArgumentError } from 'commander'
import type { Row } from '../../resources/resource.ts'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'
import { cloudClients } from '../connections/openstack-cloud.ts'

interface Options {
  readonly osCloud?: string
  readonly endpoint?: string
  readonly networkEndpoint?: string
  readonly map: ReadonlyMap<string, string>
  readonly disabled: boolean
  readonly dryRun: boolean
  readonly output: 'text' | 'json'
}

const replacement = (pair: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const at = pair.lastIndexOf('=')
  if (at < 1 || at === pair.length - 1) throw new InvalidArgumentError('OLD=NEW')
  return new Map([...before, [pair.slice(0, at), pair.slice(at + 1)]])
}

const format = (word: string): string => {
  if (word !== 'text' && word !== 'json') throw new InvalidArgumentError('text or json')
  return word
}

/**
 * Adds `spout import octavia`. It reads another Octavia and creates the same objects with the same ids here; with
 * `--no-dry-run` alone it writes.
 */
export function addImportOctavia(program: Command, context: CommandContext): void {
  const command = program.commands.find((one) => one.name() === 'import')
  if (command === undefined) throw new Error('addImportOctavia needs the import command')
  command
    .command('octavia')
    .description(
      'creates the load balancers of another Octavia here, with the same ids; what exists here is compared and stays as it is',
    )
    .argument('[load-balancer...]', 'names or ids; default: all that the credentials show')
    .option('--os-cloud <name>', 'the cloud of clouds.yaml to read; default: OS_CLOUD, else the OS_* variables')
    .option('--endpoint <url>', 'base URL of its Octavia, instead of that of the catalog; alone: asked without a token')
    .option('--network-endpoint <url>', 'base URL of its Neutron, instead of that of the catalog')
    .option(
      '--map <old=new>',
      'what stands here for a project, network, subnet, certificate, flavor, zone, node group or security group of the other cloud; repeatable',
      replacement,
      new Map<string, string>(),
    )
    .option(
      '--disabled',
      'creates load balancers disabled: their addresses are not announced until they are enabled',
      false,
    )
    .option('--dry-run', 'prints what would be done and writes nothing (the default)', true)
    .option('--no-dry-run', 'creates what is missing')
    .option('-o, --output <format>', 'text, or json: a list of objects with what became of them', format, 'text')
    .action((names: readonly string[], options: Options) => importOctavia(names, options, context))
}

async function importOctavia(names: readonly string[], options: Options, context: CommandContext): Promise<void> {
  const session = sessionOf(context)
  // Loaded only here: other commands start faster without them.
  const octavia = await import('@spout/octavia-import')
  const { NeutronClient, OctaviaClient } = await import('@spout/octavia-client')
  const { LoadBalancerTrial } = await import('@spout/intent-octavia/trial')
  const theirs = await cloudClients(options, context)
  const headers = { 'x-auth-token': session.token }
  const endpoint = await answeringEndpoint(session)
  const ours = {
    octavia: new OctaviaClient(`${endpoint}/load-balancer`, headers, context.signal),
    neutron: new NeutronClient(`${endpoint}/network`, headers, context.signal),
  }
  const asked = new Set(names)
  const isAsked = ({ id, name }: Row): boolean => asked.size === 0 || asked.has(String(id)) || asked.has(String(name))
  const from = await answered('the other Octavia', octavia.readInventory(theirs.octavia, isAsked))
  refuseUnknown(names, from)
  const known = new Set(from.loadBalancers.map(({ id }) => id))
  const into = await answered(
    'Spout',
    octavia.readInventory(ours.octavia, ({ id }) => known.has(String(id))),
  )
  const named = octavia.namedBy(from.loadBalancers, asked.size === 0)
  const source = {
    inventory: from,
    surroundings: await answered('the other cloud', octavia.readSurroundings(theirs, named)),
  }
  const target = {
    inventory: into,
    surroundings: await answered(
      'Spout',
      octavia.readSurroundings(ours, () => true),
    ),
  }
  const destination = await destinationOf(session, ours.octavia, target.surroundings)
  const { map: replacements, disabled } = options
  const newTrial = () => new LoadBalancerTrial()
  const plan = octavia.planImport(source, target, { destination, replacements, disabled, newTrial })
  const say = (one: Step | Outcome): void => {
    if (options.output === 'text') context.write(lines(octavia.stepText(one)))
  }
  if (options.dryRun) plan.steps.forEach(say)
  const outcomes = options.dryRun
    ? plan.steps
    : await answered('Spout', octavia.apply(plan.steps, { ...ours, onOutcome: say }))
  if (options.output === 'json') context.write(`${JSON.stringify(outcomes.map(shown), null, 2)}\n`)
  else {
    for (const { path, reason } of plan.unread) context.write(lines(`${path}: NOT READ: ${reason}\n`))
    context.write(`${octavia.countsText(outcomes)}${options.dryRun ? ' (nothing was written)' : ''}\n`)
  }
  refuseIncomplete(outcomes, plan.unread.length)
}

const lines = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(line))
    .join('\n')

const shown = ({ kind, id, loadBalancerId, result, notes }: Step | Outcome) => ({
  ...{ kind, id, loadBalancerId, result, notes },
})

/** Says whose refusal or silence it was. */
async function answered<T>(who: string, work: Promise<T>): Promise<T> {
  const { ApiRefusal } = await import('@spout/octavia-client')
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiRefusal) throw new ApiProblem(error.status, `${who}: ${error.message}`, null)
    if (error instanceof TypeError && error.cause instanceof Error)
      throw new ApiProblem(503, `${who} does not answer: ${error.cause.message}`, null)
    throw error
  }
}

function refuseUnknown(names: readonly string[], { loadBalancers }: Inventory): void {
  const known = loadBalancers.flatMap(({ id, attributes }) => [id, attributes.name])
  const missing = names.find((name) => !known.includes(name))
  if (missing !== undefined) throw new UsageError(`the other Octavia shows no load balancer ${missing}`)
}

/** @throws ApiProblem unless every object is in Spout, or would be, as it was */
function refuseIncomplete(outcomes: readonly (Step | Outcome)[], unread: number): void {
  const left = outcomes.filter(({ result }) => result === 'refused' || result === 'differs').length
  if (left + unread > 0)
    throw new ApiProblem(
      422,
      `${left + unread} of ${outcomes.length} objects are not as in the other Octavia, see above`,
      null,
    )
}

async function destinationOf(
  session: Session,
  client: OctaviaClientType,
  { found }: Surroundings,
): Promise<Destination> {
  const items = async (path: string) => (await call<{ items: readonly Row[] }>(session, 'GET', path)).items
  const named = (objects: readonly Row[]) => new Set(objects.map(({ name }) => String(name)))
  const both = (objects: readonly Row[]) => new Set(objects.flatMap(({ id, name }) => [String(id), String(name)]))
  const providers = named(await client.list('/providers'))
  const keys = async (path: string) => named(await client.list(`/providers/${[...providers][0]}/${path}`))
  const ids = (kind: string) => found.filter((one) => one.kind === kind).map(({ id }) => id)
  const groups = found.filter(({ kind }) => kind === 'security_group')
  const networks = await items('/networks')
  const pools = await items('/address-pools')
  const subnets = networks.flatMap(({ projectId, subnets: own }) =>
    (own as readonly Row[]).map((subnet) => ({
      ...place(subnet),
      projectIds: [String(projectId)],
      kind: 'subnet' as const,
    })),
  )
  return {
    projects: (await items('/projects')).map(({ id, name }) => ({ id: String(id), name: String(name) })),
    places: [
      ...subnets,
      ...pools.map((pool) => ({
        ...place(pool),
        projectIds: pool.projectIds as readonly string[] | null,
        kind: 'pool' as const,
      })),
    ],
    certificateIds: new Set((await items('/certificates')).map(({ id }) => String(id))),
    flavorIds: new Set(ids('flavor')),
    zoneNames: new Set(ids('availability_zone')),
    providers,
    profileKeys: {
      flavorprofile: await keys('flavor_capabilities'),
      availability_zone_profile: await keys('availability_zone_capabilities'),
    },
    nodeGroups: both(await items('/node-groups')),
    networkIds: new Set([...networks, ...pools].map(({ id }) => String(id))),
    groupProjects: new Map(groups.map(({ id, attributes }) => [id, String(attributes.project_id)])),
    usualLimits: await client.show('/quotas/defaults', 'quota'),
  }
}

const place = ({ id, name, cidr }: Row) => ({ id: String(id), name: String(name), cidr: String(cidr) })
