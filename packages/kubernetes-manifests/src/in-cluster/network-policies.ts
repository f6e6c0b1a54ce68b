import {
  API_PORT,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_STATUS_PORT,
  LINK_PORT,
  labels,
  STATUS_PORT,
} from './names.ts'
import { inNamespace, type KubernetesObject } from './pod.ts'

/** Pods of any namespace with this label may ask the API, beside our own. */
const CLIENT_LABEL = { 'spout.dev/api-client': 'true' }
const tcp = (port: number) => ({ protocol: 'TCP', port })
const ANYWHERE = {}

/**
 * Who may connect to pods of this installation; the cluster's network has to enforce it. Agents are in the nodes' own
 * network, which policies are not about. Nothing is said of what the pods themselves connect to: where the API server
 * is differs from cluster to cluster.
 */
const policy = (program: string, ingress: readonly object[]): KubernetesObject => ({
  ...inNamespace('networking.k8s.io/v1', 'NetworkPolicy', program),
  spec: { podSelector: { matchLabels: labels(program) }, policyTypes: ['Ingress'], ingress },
})

export const NETWORK_POLICIES: readonly KubernetesObject[] = [
  policy(CONTROL_PLANE, [
    {
      from: [
        ...[CONNECTOR, CONFIGURATION].map((program) => ({ podSelector: { matchLabels: labels(program) } })),
        { namespaceSelector: ANYWHERE, podSelector: { matchLabels: CLIENT_LABEL } },
      ],
      ports: [tcp(API_PORT)],
    },
    // Agents come with the addresses of nodes, and with certificates.
    { ports: [tcp(LINK_PORT)] },
    // Figures want a token.
    { from: [{ namespaceSelector: ANYWHERE }], ports: [tcp(CONTROL_PLANE_STATUS_PORT)] },
  ]),
  ...[CONNECTOR, CONFIGURATION].map((program) =>
    policy(program, [{ from: [{ namespaceSelector: ANYWHERE }], ports: [tcp(STATUS_PORT)] }]),
  ),
  // Whatever else is put here.
  {
    ...inNamespace('networking.k8s.io/v1', 'NetworkPolicy', 'nobody-else'),
    spec: { podSelector: {}, policyTypes: ['Ingress'] },
  },
]
