import type { GatewayApiConversion, ReadObjects } from '@spout/intent-ingress/import'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { withCluster } from '../connections/cluster.ts'
import { type CommandContext, UsageError } from '../connections/context.ts'
import { manifestTexts } from './manifest-files.ts'

interface Options {
  readonly file?: readonly string[]
  readonly kubeconfig?: string
  readonly context?: string
  readonly gatewayApi: boolean
}

const USER_AGENT = 'spout-import'

/**
 * Adds `spout import ingress-nginx`. It says of Ingresses what is taken, what differs and what would be lost, and
 * changes nothing: the connector takes them once their class is one of ours.
 */
export function addImportIngressNginx(program: Command, context: CommandContext): void {
  const command = program.commands.find((one) => one.name() === 'import')
  if (command === undefined) throw new Error('addImportIngressNginx needs the import command')
  command
    .command('ingress-nginx')
    .description(
      'says of each Ingress and annotation of ingress-nginx what is taken, what differs and what would be lost; changes nothing',
    )
    .option('-f, --file <path...>', 'manifests: YAML files, directories of them, or - for standard input')
    .option('--kubeconfig <file>', 'reads the Ingresses, IngressClasses and Services of this cluster instead of files')
    .option('--context <name>', 'context of the kubeconfig; default: its current one')
    .option('--dry-run', 'writes nothing; there is no other way', true)
    .option('--gateway-api', 'prints Gateway API objects for what these can say, with the rest as comments', false)
    .action((options: Options) => importIngressNginx(options, context))
}

async function importIngressNginx(options: Options, context: CommandContext): Promise<void> {
  const { file: files, kubeconfig } = options
  if (files === undefined && kubeconfig === undefined)
    throw new UsageError('name what to read: -f FILE, or --kubeconfig FILE for a cluster')
  if (options.context !== undefined && kubeconfig === undefined) throw new UsageError('--context needs --kubeconfig')
  // Loaded only here: other commands start faster without it.
  const { gatewayApiOf, reportOf, reportText } = await import('@spout/intent-ingress/import')
  const { ingressObjects } = await import('./ingress-manifests.ts')
  const objects = files === undefined ? await fromCluster(options) : ingressObjects(await manifestTexts(files))
  if (objects.ingresses.length === 0) throw new UsageError('there is no Ingress')
  const units = reportOf(objects)
  context.write(options.gatewayApi ? gatewayYaml(gatewayApiOf(units)) : reportText(units))
}

function gatewayYaml({ objects, notes }: GatewayApiConversion): string {
  const head = notes.map((note) => `# NOTE ${note}\n`).join('')
  return `${head}${objects.map((one) => `---\n${stringify(one, { version: '1.1', lineWidth: 0 })}`).join('')}`
}

const NETWORKING = '/apis/networking.k8s.io/v1'

/** Services that may not be read are assumed. */
async function fromCluster(options: Options): Promise<ReadObjects> {
  const { KubeError } = await import('@spout/kube')
  return withCluster(options, USER_AGENT, async ({ transport }) => {
    const list = async <T>(path: string): Promise<readonly T[]> =>
      (await transport.request<{ items: readonly T[] }>({ method: 'GET', path })).items
    return {
      ingresses: await list(`${NETWORKING}/ingresses`),
      classes: await list(`${NETWORKING}/ingressclasses`),
      services: await list<ReadObjects['services'][number]>('/api/v1/services').catch((error: unknown) => {
        if (error instanceof KubeError && error.status === 403) return []
        throw error
      }),
    }
  })
}
