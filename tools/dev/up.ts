import { parseArgs } from 'node:util'
import { builtPage, freePort, Lab, NODES, type SystemAccess, startAgent, startControlPlane } from '@spout/testkit'
import { buildKubernetes } from './kubernetes/build.ts'
import { imagesOf } from './kubernetes/images.ts'
import { type StorySettings, splitSettings } from './kubernetes/settings.ts'
import { tellKubernetesStory } from './kubernetes/story.ts'
import { resumeKubernetes, seedKubernetes } from './kubernetes/system.ts'
import { holderOf, holderText, isFree } from './port.ts'
import { readState, removeState, requireUp, type UpKind, writeState } from './state.ts'
import { pageOf, showPage } from './story/page.ts'
import { seedDemo } from './story/seed.ts'
import { tellStory } from './story/story.ts'
import { Teller } from './story/teller.ts'
import { UsageError, type Verb } from './verb.ts'

const DEFAULT_PORT = 9130
const DEFAULT_STATUS_PORT = 9134

const IS_UP: Readonly<Record<UpKind, string>> = {
  whole: 'the whole system',
  bare: 'the control plane alone',
  kubernetes: 'the system with a Kubernetes cluster',
}

/** `./dev up [--bare | --kubernetes [--image NAME=PROGRAM]] [--set KEY=VALUE] [--json]` */
export const up: Verb = {
  name: 'up',
  usage: '[--bare | --kubernetes] [--set KEY=VALUE]… [--json]',
  summary:
    'starts Spout in the lab and shows the main job; --bare: the control plane alone; --kubernetes: a cluster, its Services and a shop',
  details: `--set passes a setting to the control plane, such as --set log.level=debug. A second up keeps the running lab and changes nothing.
The first --kubernetes builds Kubernetes from its Go modules, once: about 8 minutes on two cores.
With --kubernetes, --image NAME=PROGRAM names what containers of an image run; those of other images run a program of the lab.
--set story.managementCluster=true adds a cluster of the provider, in which the tenant has a namespace, also to a lab that is up.`,
  async run(args) {
    const options = readOptions(args)
    const before = readState()
    const standing = before && Lab.open(before.labId)
    if (before && standing && before.kind !== options.kind)
      throw new UsageError(`${IS_UP[before.kind]} is up already: run ./dev down first`)
    if (options.kind === 'kubernetes') await buildKubernetes()
    const teller = new Teller({ quiet: options.json })
    const access =
      before && standing ? await resume(standing, before.access, options, teller) : await begin(options, teller)
    const { lab, cluster } = requireUp()
    const story =
      options.kind === 'bare'
        ? null
        : options.kind === 'kubernetes'
          ? await tellKubernetesStory(lab, access, teller, options.story)
          : await tellStory(lab, access, teller)
    const { endpoint } = access
    if (options.json)
      process.stdout.write(
        `${JSON.stringify({
          endpoint,
          bare: options.kind === 'bare',
          ...(cluster === null ? {} : { kubeconfig: cluster.kubeconfigFile }),
          seconds: teller.seconds,
          page: pageOf(access),
          story,
        })}\n`,
      )
    else if (options.kind === 'bare')
      process.stdout.write(
        `\nThe control plane is up at ${endpoint}. Next: eval "$(./dev env --admin)"; ./dev spout project list; ./dev down\n`,
      )
    showPage(pageOf(access), teller)
    return story?.ok === false ? 1 : 0
  },
}

interface UpOptions {
  readonly kind: UpKind
  readonly json: boolean
  /** For the control plane. */
  readonly set: readonly string[]
  readonly story: StorySettings
  readonly images: Readonly<Record<string, readonly string[]>>
}

function readOptions(args: readonly string[]): UpOptions {
  const { bare, kubernetes, json, set, image } = parseOptions(args)
  if (bare && kubernetes) throw new UsageError('--bare and --kubernetes exclude each other')
  if (image.length > 0 && !kubernetes) throw new UsageError('--image needs --kubernetes')
  const { story, others } = splitSettings(set, kubernetes)
  return {
    kind: bare ? 'bare' : kubernetes ? 'kubernetes' : 'whole',
    json,
    set: others,
    story,
    images: imagesOf(image),
  }
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        bare: { type: 'boolean', default: false },
        kubernetes: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        set: { type: 'string', multiple: true, default: [] },
        image: { type: 'string', multiple: true, default: [] },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/**
 * The port of the control plane: the usual one, or another if that is taken, so that two checkouts can run at
 * once.
 * @throws UsageError when a requested port is taken
 */
async function choosePort(set: readonly string[], teller: Teller): Promise<number> {
  const asked = set.findLast((setting) => setting.startsWith('api.port='))?.slice('api.port='.length)
  const port = asked === undefined ? DEFAULT_PORT : Number(asked)
  // The control plane itself refuses an invalid port, and 0 takes any free one.
  if (!(port > 0) || (await isFree(port))) return port
  const holder = holderText(await holderOf(port))
  if (asked !== undefined)
    throw new UsageError(`port ${port} is taken by ${holder}: end it, or choose another with --set api.port=PORT`)
  const other = await freePort()
  teller.event(`port ${port} is taken by ${holder}: the control plane gets ${other}; ./dev env knows it`)
  return other
}

async function begin({ kind, set, images }: UpOptions, teller: Teller): Promise<SystemAccess> {
  const port = await choosePort(set, teller)
  const lab = await Lab.create({ persistent: true })
  try {
    buildPage(teller)
    teller.event(`lab ${lab.id}: a fabric, a router, a client, two load-balancer nodes, ${TENANTS_OF[kind]}`)
    const statusPort = (await isFree(DEFAULT_STATUS_PORT)) ? DEFAULT_STATUS_PORT : 0
    const access = await startControlPlane(lab, { port, statusPort, set })
    writeState(lab, kind, access)
    teller.event(`control plane at ${access.endpoint}`)
    if (kind === 'bare') return access
    const seeded =
      kind === 'kubernetes' ? await seedKubernetes(lab, access, teller, images) : await seedDemo(lab, access, teller)
    writeState(lab, kind, seeded)
    return seeded
  } catch (error) {
    process.stderr.write(`The logs are kept in ${lab.directory}.\n`)
    await lab.destroy({ keepLogs: true })
    removeState()
    throw error
  }
}

const TENANTS_OF: Readonly<Record<UpKind, string>> = {
  whole: 'two tenants with two members each',
  bare: 'two tenants with two members each',
  kubernetes: 'segments for tenants',
}

/** A page that cannot be built is no reason to have no system. */
function buildPage(teller: Teller): void {
  try {
    builtPage()
  } catch (error) {
    teller.event((error as Error).message)
  }
}

/** The port of an endpoint. The control plane gets it again when it restarts, so that clients find it. */
const portOf = (url: string): number => Number(new URL(url).port)

/** Keeps the running lab, and restarts its processes that have stopped. */
async function resume(lab: Lab, access: SystemAccess, { kind, set }: UpOptions, teller: Teller): Promise<SystemAccess> {
  const alive = lab.process('control-plane') !== null
  if (!alive) buildPage(teller)
  const current = alive
    ? access
    : {
        ...(await startControlPlane(lab, {
          port: portOf(access.endpoint),
          statusPort: portOf(access.statusUrl),
          set,
        })),
        projects: access.projects,
      }
  if (kind !== 'bare')
    for (const node of NODES) if (lab.process(`agent-${node}`) === null) await startAgent(lab, current, node)
  if (kind === 'kubernetes') await resumeKubernetes(lab)
  teller.event(`lab ${lab.id} and the control plane at ${current.endpoint} are up already`)
  return current
}
