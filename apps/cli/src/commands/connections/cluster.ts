import { ApiProblem } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { UsageError } from './context.ts'

/** The cluster, and the credentials for it. */
export interface ClusterChoice {
  readonly kubeconfig?: string
  /** Context of the kubeconfig; left out: its current one. */
  readonly context?: string
}

type Kube = typeof import('@spout/kube')
type Transport = import('@spout/kube').Transport

interface OpenCluster {
  readonly transport: Transport
  /** The namespace of the kubeconfig. */
  readonly namespace: string
}

/** A server that is there answers a question for its version in a moment, however much it has to do. */
const ANSWERS_WITHIN_MS = 5000

/**
 * Gives `use` a client of the cluster, and closes it afterwards.
 * @param userAgent our name in the API server's audit log
 * @throws UsageError for an unreadable kubeconfig; ApiProblem for a refusal of the API server; SpoutError `Unavailable`
 * with the server's URL when it does not answer
 */
export async function withCluster<T>(
  { kubeconfig = '', context }: ClusterChoice,
  userAgent: string,
  use: (cluster: OpenCluster) => Promise<T>,
  answersWithinMs = ANSWERS_WITHIN_MS,
): Promise<T> {
  // Loaded only here: other commands start faster without it.
  const kube = await import('@spout/kube')
  const { AccessError, KubeError, kubeconfigAccess, KubeUnreachable, Transport } = kube
  const access = await kubeconfigAccess(kubeconfig, context).catch((error: unknown) => {
    if (error instanceof AccessError) throw new UsageError(error.message)
    throw error
  })
  const transport = new Transport({ access, userAgent })
  try {
    await expectAnswer(kube, transport, answersWithinMs)
    return await use({ transport, namespace: access.namespace })
  } catch (error) {
    if (error instanceof KubeError) throw new ApiProblem(error.status, error.message, null)
    if (error instanceof KubeUnreachable)
      throw new SpoutError('Unavailable', { what: `The cluster at ${access.server.origin}`, reason: error.message })
    throw error
  } finally {
    transport.close()
  }
}

/**
 * Other requests are repeated for a minute, as an API server may be away for a moment. Whoever types a command learns
 * sooner that nobody is there. A refusal is an answer.
 * @throws KubeUnreachable
 */
async function expectAnswer({ KubeError }: Kube, transport: Transport, deadlineMs: number): Promise<void> {
  await transport.request({ method: 'GET', path: '/version', deadlineMs, retry: false }).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error
  })
}
