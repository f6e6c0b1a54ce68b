import { type Caller, type Kubernetes, type KubernetesCluster, type SystemAccess, waitFor } from '@spout/testkit'
import type { Teller } from '../story/teller.ts'
import type { Kubectl } from './kubectl.ts'

/** What the parts of the story share. */
export interface Scene {
  readonly access: SystemAccess
  readonly cluster: KubernetesCluster
  /** A client on the other side of the router. */
  readonly caller: Caller
  readonly kubectl: Kubectl
  readonly teller: Teller
}

export interface BalancedService extends Kubernetes.Service {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
    readonly conditions?: readonly Kubernetes.Condition[]
  }
}

/** Directory of the manifests, as named on a command line in the repository. */
export const BASE = 'tools/dev/kubernetes'
export const SERVICES = '/api/v1/namespaces/default/services'
export const POD_PATH = '/api/v1/namespaces/default/pods'

export const vipOf = ({ status }: BalancedService): string | null => status?.loadBalancer?.ingress?.[0]?.ip ?? null

/** Waits until the Service's own condition says that the nodes have its load balancer. */
export async function untilProgrammed({ api }: KubernetesCluster, name: string): Promise<void> {
  await waitFor(
    async () =>
      (await api.get<BalancedService>(`${SERVICES}/${name}`)).status?.conditions?.some(
        ({ type, status }) => type === 'spout.dev/Programmed' && status === 'True',
      ),
    { what: `Service ${name} to be programmed` },
  )
}
