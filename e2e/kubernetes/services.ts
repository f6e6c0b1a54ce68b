import { follow, type Kubernetes, type KubernetesCluster } from '@spout/testkit'

export interface BalancedService extends Kubernetes.Service {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
    readonly conditions?: readonly Kubernetes.Condition[]
  }
}

export const servicesIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`

/**
 * Follows what the Services of type LoadBalancer in a namespace show.
 * @returns how to stop, with each name and addresses that were seen together: `NAME ADDRESS,…`
 */
export function followAddresses({ api }: KubernetesCluster, namespace: string): () => Promise<ReadonlySet<string>> {
  const [seen, ended] = [new Set<string>(), new AbortController()]
  const changed = ({ metadata, spec, status }: BalancedService) => {
    if (spec?.type !== 'LoadBalancer') return
    seen.add(`${metadata.name} ${(status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).join()}`)
  }
  const following = follow(api, servicesIn(namespace), { changed, gone: () => {} }, ended.signal)
  return async () => {
    ended.abort()
    await following
    return seen
  }
}

/** A Service of type LoadBalancer for TCP port 80 of some pods, in any namespace. */
export const serviceBody = (
  name: string,
  app: string,
  spec: object = {},
  annotations: Readonly<Record<string, string>> = {},
): BalancedService => ({
  metadata: { name, annotations },
  spec: {
    type: 'LoadBalancer',
    selector: { app },
    ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    ...spec,
  },
})
