import { type ClusterAccess, inClusterAccess, kubeconfigAccess, Transport } from '@spout/kube'
import type { ConnectorConfig } from './config.ts'

/**
 * Opens the transport to the cluster's API server, by the kubeconfig or else by the pod's own service account.
 * @throws AccessError
 */
export async function clusterTransport(
  { kubernetes: { kubeconfig, context } }: ConnectorConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly access: ClusterAccess; readonly transport: Transport }> {
  const [host, port] = [environment['KUBERNETES_SERVICE_HOST'], environment['KUBERNETES_SERVICE_PORT']]
  const access =
    kubeconfig === ''
      ? await inClusterAccess({ host, port })
      : await kubeconfigAccess(kubeconfig, context === '' ? undefined : context)
  return { access, transport: new Transport({ access, userAgent: 'spout-connector' }) }
}
