import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { AccessError, type ClusterAccess } from './cluster-access.ts'

/** The directory in which a pod finds the files of its service account. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface InClusterOptions {
  /** The pod's KUBERNETES_SERVICE_HOST: an address or a name. */
  readonly host: string | undefined
  /** The pod's KUBERNETES_SERVICE_PORT. */
  readonly port: string | undefined
  readonly directory?: string
}

/**
 * Access with the service account of the pod that this process runs in.
 *
 * @throws AccessError when this is not a pod, or its service account is not mounted
 */
export async function inClusterAccess(options: InClusterOptions): Promise<ClusterAccess> {
  const { host, port, directory = SERVICE_ACCOUNT_DIRECTORY } = options
  if (!host) throw new AccessError('KUBERNETES_SERVICE_HOST is not set: this is not a pod')
  if (!port || !/^\d{1,5}$/.test(port)) throw new AccessError(`KUBERNETES_SERVICE_PORT: "${port ?? ''}" is not a port`)
  const read = async (name: string): Promise<string> => {
    const file = path.join(directory, name)
    try {
      return await readFile(file, 'utf8')
    } catch (error) {
      throw new AccessError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
    }
  }
  const [ca, namespace] = await Promise.all([read('ca.crt'), read('namespace'), read('token')])
  const address = host.includes(':') ? `[${host}]` : host
  if (!URL.canParse(`https://${address}:${port}`))
    throw new AccessError(`KUBERNETES_SERVICE_HOST: "${host}" is not a host`)
  return {
    server: new URL(`https://${address}:${port}`),
    ca,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'file', path: path.join(directory, 'token') },
    clientCertificate: null,
    namespace: namespace.trim() || 'default',
  }
}
