import path from 'node:path'
import { AccessError, type ClusterAccess, kubeconfigAccess, Transport } from '@spout/kube'
import { ConfigError } from '@spout/runtime/config'
import { CertificateAuthority } from '@spout/server'
import type { Store } from '@spout/store'
import { KubernetesStore } from '@spout/store/kubernetes'
import { adminPassword } from '../admin-password.ts'
import type { ControlPlaneConfig } from '../config.ts'
import { openSealingKeys } from '../sealing-keys.ts'
import { keepKeys } from './kept-keys.ts'
import { podAccess } from './pod-access.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The store in the API of the cluster that the configuration names.
 * @throws ConfigError for access or a Secret that cannot be used; SpoutError StoreUnavailable
 */
export async function openClusterStore(config: ControlPlaneConfig, environment: Environment): Promise<Store> {
  const { kubernetes } = config.store
  const access = await accessOf(kubernetes, environment)
  const namespace = kubernetes.namespace || access.namespace
  const transport = new Transport({ access, userAgent: 'spout-control-plane' })
  if (kubernetes.keysSecret !== '') await keepKeys(keysOf(config, { transport, namespace }))
  return KubernetesStore.open({ transport, namespace, name: kubernetes.name })
}

async function accessOf(
  { kubeconfigFile }: ControlPlaneConfig['store']['kubernetes'],
  environment: Environment,
): Promise<ClusterAccess> {
  if (kubeconfigFile === '') return podAccess(environment, 'store.engine kubernetes')
  return kubeconfigAccess(kubeconfigFile).catch((error: unknown) => {
    if (!(error instanceof AccessError)) throw error
    throw new ConfigError(`Field store.kubernetes.kubeconfigFile: ${error.message}`)
  })
}

const SEALING_KEYS = { 'sealing-keys': 'sealing-keys' }
const FIRST_PASSWORD = { 'admin-password': 'admin-password' }

const keysOf = (
  { stateDirectory, certificates, admin, store }: ControlPlaneConfig,
  where: { readonly transport: Transport; readonly namespace: string },
) => ({
  ...where,
  ...{ name: store.kubernetes.keysSecret, stateDirectory },
  files: {
    ...{ 'ca.key': 'agent-link/ca.key', 'ca.crt': 'agent-link/ca.crt' },
    // What the configuration gives is in no file of ours.
    ...(certificates.sealingKeys === undefined && certificates.sealingKeysFile === '' && SEALING_KEYS),
    ...(admin.password === undefined && FIRST_PASSWORD),
  },
  make: async () => {
    await CertificateAuthority.open(path.join(stateDirectory, 'agent-link'))
    openSealingKeys(stateDirectory, certificates)
    adminPassword(stateDirectory, admin.password)
  },
})
