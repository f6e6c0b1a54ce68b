import { ApiProblem } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { UsageError } from './context.ts'

/** The cluster, and the credentials for it. */
export interface ClusterChoice {
  readonly kubeconfig?: string
  /** Context of the kubeconfig; left out: its current one. */
  readonly context?: string
}

interface OpenCluster {
  readonly transport: import('@spout/kube').Transport
  /** The namespace of the kubeconfig. */
  readonly namespace: string
}

/**
 * Gives `use` a client of the cluster, and closes it afterwards.
 * @param userAgent our name in the API server's audit log
 * @throws UsageError for an unreadable kubeconfig; ApiProblem for a refusal of the API server; SpoutError `Unavailable`
 * when it does not answer
 */
export async function withCluster<T>(
  { kubeconfig = '', context }: ClusterChoice,
  userAgent: string,
  use: (cluster: OpenCluster) => Promise<T>,
): Promise<T> {
  // Loaded only here: other commands start faster without it.
  const { AccessError, KubeError, kubeconfigAccess, KubeUnreachable, Transport } = await import('@spout/kube')
  const access = await kubeconfigAccess(kubeconfig, context).catch((error: unknown) => {
    if (error instanceof AccessError) throw new UsageError(error.message)
    throw error
  })
  const transport = new Transport({ access, userAgent })
  try {
    return await use({ transport, namespace: access.namespace })
  } catch (error) {
    if (error instanceof KubeError) throw new ApiProblem(error.status, error.message, null)
    if (error instanceof KubeUnreachable)
      throw new SpoutError('Unavailable', { what: 'The cluster', reason: error.message })
    throw error
  } finally {
    transport.close()
  }
}
