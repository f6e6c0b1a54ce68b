import type { Service, ServiceSpec } from '@spout/kube'
import { uid } from '../../../../connector/src/testing/objects.ts'

export { endpoint, node, slice, uid } from '../../../../connector/src/testing/objects.ts'

export function service(
  name: string,
  spec: Partial<ServiceSpec> = {},
  metadata: Partial<Service['metadata']> = {},
): Service {
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: uid(1),
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: {
      type: 'LoadBalancer',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
      externalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      ...spec,
    },
  }
}
