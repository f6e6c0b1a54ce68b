import type { Kubernetes, KubernetesCluster } from '@spout/testkit'

export const WEB = { app: 'web' } as const
export const WEB_PORT = 8080

/** Pods that answer HTTP, spread over the cluster's nodes; resolves once all are ready. */
export async function startWebPods(cluster: KubernetesCluster, count: number): Promise<readonly Kubernetes.Pod[]> {
  const container = { name: 'web', image: 'web', ports: [{ name: 'http', containerPort: WEB_PORT }] }
  await cluster.api.create('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: count,
      selector: { matchLabels: WEB },
      template: { metadata: { labels: WEB }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
    },
  })
  return cluster.readyPods(count, 'app=web')
}

/** The first IPv4 address of a pod. @throws Error when it has none */
export function podAddress({ metadata, status }: Kubernetes.Pod): string {
  const found = (status?.podIPs ?? []).find(({ ip }) => !ip.includes(':'))
  if (found === undefined) throw new Error(`pod ${metadata.name} has no IPv4 address`)
  return found.ip
}
