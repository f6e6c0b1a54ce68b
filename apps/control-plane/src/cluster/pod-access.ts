import { AccessError, type ClusterAccess, inClusterAccess } from '@spout/kube'
import { ConfigError } from '@spout/runtime/config'

/**
 * Access to the API server with the service account of the pod that this process runs in.
 * @param setting that asks for it
 * @throws ConfigError that names the setting when this process is not a pod
 */
export async function podAccess(
  environment: Readonly<Record<string, string | undefined>>,
  setting: string,
): Promise<ClusterAccess> {
  const [host, port] = [environment['KUBERNETES_SERVICE_HOST'], environment['KUBERNETES_SERVICE_PORT']]
  try {
    return await inClusterAccess({ host, port })
  } catch (error) {
    if (!(error instanceof AccessError)) throw error
    throw new ConfigError(`${setting}: ${error.message}`)
  }
}
