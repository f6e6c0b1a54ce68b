import { ApiProblem } from '@spout/client/api'
import type { Conversion, ConvertedObject, Manifest } from '@spout/metallb-import'
import type { Command } from 'commander'
import { withCluster } from '../connections/cluster.ts'
import { type CommandContext, UsageError } from '../connections/context.ts'
import { manifestsOf } from './manifest-files.ts'

interface Options {
  readonly file?: readonly string[]
  readonly kubeconfig?: string
  readonly context?: string
  readonly dryRun: boolean
}

/** Fields of other managers are not taken over. */
const FIELD_MANAGER = 'spout-import'
const USER_AGENT = 'spout-import'

/**
 * Adds `spout import metallb`. It prints objects for `kubectl apply -f -`; with `--no-dry-run` it applies them to the
 * cluster of the kubeconfig. It does not talk to the control plane, which follows the objects.
 */
export function addImport(program: Command, context: CommandContext): void {
  const command = program.command('import').description('converts the configuration of other projects')
  command
    .command('metallb')
    .description(
      'prints the AddressPool, NodeGroup, BgpPeer and BgpAdvertisement objects for a MetalLB configuration as YAML; parts without an equivalent are comments',
    )
    .option('-f, --file <path...>', 'manifests: YAML files, directories of them, or - for standard input')
    .option(
      '--kubeconfig <file>',
      'reads this cluster instead of files; with --no-dry-run, also the cluster to write to',
    )
    .option('--context <name>', 'context of the kubeconfig; default: its current one')
    .option('--dry-run', 'prints the objects and writes nothing (the default)', true)
    .option('--no-dry-run', 'applies the objects to the cluster of --kubeconfig')
    .action((options: Options) => importMetalLb(options, context))
}

async function importMetalLb(options: Options, context: CommandContext): Promise<void> {
  const { file: files, kubeconfig, dryRun } = options
  if (files === undefined && kubeconfig === undefined)
    throw new UsageError('name what to read: -f FILE, or --kubeconfig FILE for a cluster')
  if (!dryRun && kubeconfig === undefined)
    throw new UsageError('--no-dry-run needs --kubeconfig: the cluster that the objects are applied to')
  if (options.context !== undefined && kubeconfig === undefined) throw new UsageError('--context needs --kubeconfig')
  // Loaded only here: other commands start faster without it.
  const metallb = await import('@spout/metallb-import')
  let conversion: Conversion
  try {
    const manifests = files === undefined ? await fromCluster(options) : await manifestsOf(files, metallb.readManifests)
    conversion = metallb.convertMetalLb(manifests)
  } catch (error) {
    if (error instanceof metallb.BadManifests) throw new UsageError(error.message)
    throw error
  }
  context.write(metallb.conversionYaml(conversion, 'MetalLB'))
  if (!dryRun) await applied(conversion, options, context)
}

/** The objects of an installed MetalLB; a kind unknown to the cluster has none. */
async function fromCluster(options: Options): Promise<readonly Manifest[]> {
  const { METALLB_GROUP, METALLB_KINDS, readManifests } = await import('@spout/metallb-import')
  const { isNotFound } = await import('@spout/kube')
  return withCluster(options, USER_AGENT, async ({ transport }) => {
    const manifests: Manifest[] = []
    for (const kind of METALLB_KINDS) {
      const version = kind === 'BGPPeer' ? 'v1beta2' : 'v1beta1'
      const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`
      const where = `/apis/${METALLB_GROUP}/${version}/${plural}`
      try {
        const { items } = await transport.request<{ items: readonly object[] }>({ method: 'GET', path: where })
        // Objects in a list lack kind and apiVersion.
        const whole = items.map((item) => ({ apiVersion: `${METALLB_GROUP}/${version}`, kind, ...item }))
        manifests.push(...readManifests(where, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: whole })))
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    return manifests
  })
}

async function applied({ objects }: Conversion, options: Options, context: CommandContext): Promise<void> {
  const { isConflict, KubeClient } = await import('@spout/kube')
  let refused = 0
  const refuse = (what: string, why: string): void => {
    refused += 1
    context.write(`# ${what} REFUSED: ${why}\n`)
  }
  await withCluster(options, USER_AGENT, async ({ transport }) => {
    const client = new KubeClient(transport)
    for (const { object } of objects) {
      const { kind, apiVersion, metadata } = object
      const resource = { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: false }
      const what = `${resource.plural}.${apiVersion.split('/')[0]}/${metadata.name}`
      try {
        const made = await client.apply<ConvertedObject>(resource, object, {
          fieldManager: FIELD_MANAGER,
          force: false,
        })
        if (made === null) refuse(what, 'the cluster does not know the kind: apply deploy/kubernetes/crds first')
        else context.write(`# ${what} applied\n`)
      } catch (error) {
        refuse(
          what,
          `${isConflict(error) ? 'another writer owns fields that differ: ' : ''}${(error as Error).message}`,
        )
      }
    }
  })
  if (refused > 0)
    throw new ApiProblem(422, `${refused} of ${objects.length} objects were not applied, see above`, null)
}
