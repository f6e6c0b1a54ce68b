import { ApiProblem } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { UsageError } from './context.ts'

/** Which cluster, and as whom. */
export interface ClusterChoice {
  readonly kubeconfig?: string
  /** Of the kubeconfig; left out, its current one. */
  readonly context?: string
}

interface OpenCluster {
  readonly transport: import('@spout/kube').Transport
  /** The namespace that the kubeconfig names. */
  readonly namespace: string
}

/**
 * Gives what reaches the cluster of a kubeconfig for as long as `use` runs.
 * @param userAgent who we are in the API server's audit log
 * @throws UsageError for a kubeconfig that cannot be read; ApiProblem for what the API server refuses; SpoutError
 * `Unavailable` when it does not answer
 */
export async function withCluster<T>(
  { kubeconfig = '', context }: ClusterChoice,
  userAgent: string,
  use: (cluster: OpenCluster) => Promise<T>,
): Promise<T> {
  // Loaded here alone: other commands start faster without it.
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
