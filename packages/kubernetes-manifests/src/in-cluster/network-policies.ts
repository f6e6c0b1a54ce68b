import {
  API_PORT,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_STATUS_PORT,
  LINK_PORT,
  labels,
  PEERS_PORT,
  STATUS_PORT,
} from './names.ts'
import { inNamespace, type KubernetesObject } from './pod.ts'

/** Beside our own pods, pods with this label may call the API, in any namespace. */
const CLIENT_LABEL = { 'spout.dev/api-client': 'true' }
const tcp = (port: number) => ({ protocol: 'TCP', port })
const ANYWHERE = {}

/**
 * Limits who may connect to pods of this installation, if the cluster's network enforces policies. Policies do not
 * apply to agents, which are in the nodes' own network. Outgoing connections are not restricted: the API server is in a
 * different place in each cluster.
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
    // Of several, those that do not lead pass requests on.
    { from: [{ podSelector: { matchLabels: labels(CONTROL_PLANE) } }], ports: [tcp(PEERS_PORT)] },
    // Agents come from node addresses and have certificates.
    { ports: [tcp(LINK_PORT)] },
    // Metrics need a token.
    { from: [{ namespaceSelector: ANYWHERE }], ports: [tcp(CONTROL_PLANE_STATUS_PORT)] },
  ]),
  ...[CONNECTOR, CONFIGURATION].map((program) =>
    policy(program, [{ from: [{ namespaceSelector: ANYWHERE }], ports: [tcp(STATUS_PORT)] }]),
  ),
  // All other pods in this namespace: nobody may connect.
  {
    ...inNamespace('networking.k8s.io/v1', 'NetworkPolicy', 'nobody-else'),
    spec: { podSelector: {}, policyTypes: ['Ingress'] },
  },
]
