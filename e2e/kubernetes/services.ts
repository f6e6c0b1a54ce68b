import type { Kubernetes } from '@spout/testkit'

export interface BalancedService extends Kubernetes.Service {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
    readonly conditions?: readonly Kubernetes.Condition[]
  }
}

export const servicesIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`

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
