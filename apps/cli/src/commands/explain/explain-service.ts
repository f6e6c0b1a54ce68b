import { ApiProblem, call } from '@spout/client/api'
import type { Service } from '@spout/kube'
import { type ScopedSession, scopedTo } from '../../lookup.ts'
import type { Row } from '../../resources/resource.ts'
import { type ClusterChoice, withCluster } from '../connections/cluster.ts'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'
import { explainServiceText } from './explain-service-text.ts'
import { explainText } from './explain-text.ts'
import type { Explanation } from './explanation.ts'

export interface ServiceChoice extends ClusterChoice {
  readonly project?: string
  readonly json?: boolean
}

/** Prefix of a load balancer's annotations that name its Services, before their UID. */
const SERVICE_ANNOTATION_PREFIX = 'kubernetes.service.'

/**
 * Explains a Kubernetes Service: what the connector wrote on it (all there is when it was refused), then the path of
 * its load balancer, if it has one.
 * @param name `namespace/name`, or a name in the kubeconfig's namespace
 */
export async function explainService(name: string, options: ServiceChoice, context: CommandContext): Promise<void> {
  const kubeconfig = options.kubeconfig ?? context.env['KUBECONFIG'] ?? ''
  if (kubeconfig === '')
    throw new UsageError('name the cluster of the Service: --kubeconfig FILE, or KUBECONFIG in the environment')
  const service = await readService(name, { ...options, kubeconfig })
  const { SPOUT_ENDPOINT: endpoint } = context.env
  const explanation = endpoint ? await explanationOf(service, options, context) : null
  if (options.json) {
    const { metadata, spec, status } = service
    const shown = { metadata: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid }, spec, status }
    context.write(`${JSON.stringify({ service: shown, loadBalancer: explanation }, null, 2)}\n`)
    return
  }
  context.write(explainServiceText(service, context.colour))
  if (explanation !== null) context.write(`\n${explainText(explanation, context.colour)}`)
  else if (!endpoint)
    context.write('\nSPOUT_ENDPOINT is not set: the control plane was not asked for its load balancer.\n')
  else context.write('\nIt has no load balancer of that name.\n')
}

const readService = (name: string, choice: ClusterChoice): Promise<Service> =>
  withCluster(choice, 'spout-explain', async ({ transport, namespace: own }) => {
    const parts = name.split('/')
    if (parts.length > 2 || parts.includes(''))
      throw new UsageError(`${name}: a Service is named NAMESPACE/NAME, or NAME in the kubeconfig's namespace`)
    const [service = '', namespace = own] = parts.reverse()
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(service)}`
    return transport.request<Service>({ method: 'GET', path })
  })

/** Null when no load balancer has the Service's name and names the Service. */
async function explanationOf(
  { metadata }: Service,
  { project }: ServiceChoice,
  context: CommandContext,
): Promise<Explanation | null> {
  const session: ScopedSession = await scopedTo(sessionOf(context), project)
  const key = `${metadata.namespace}/${metadata.name}`
  const query = new URLSearchParams({
    name: key,
    ...(session.projectId === undefined ? {} : { project: session.projectId }),
  })
  type Shown = Row & { readonly annotations?: Readonly<Record<string, string>> }
  const { items } = await call<{ items: readonly Shown[] }>(session, 'GET', `/load-balancers?${query}`)
  const own = items.find(({ annotations }) => annotations?.[`${SERVICE_ANNOTATION_PREFIX}${metadata.uid}`] === key)
  if (own === undefined) return null
  try {
    return await call<Explanation>(session, 'GET', `/load-balancers/${String(own.id)}/explain`)
  } catch (error) {
    // It was deleted between the two calls.
    if (error instanceof ApiProblem && error.status === 404) return null
    throw error
  }
}
