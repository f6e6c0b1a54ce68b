import { NAMESPACE } from '../namespace.ts'
import {
  ACCOUNTS,
  AGENT,
  AGENT_METRICS_PORT,
  API_PORT,
  AUDIENCE,
  AUTHORITY,
  AUTHORITY_FILE,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_HOST,
  LINK_PORT,
  LINKS,
  PHYSICAL_NETWORK,
  POD_NETWORK,
  PROJECT,
  SLICE_CONTROLLER,
  STATUS_TOKEN,
  STATUS_TOKEN_FILE,
  TOKEN_FILE,
} from './names.ts'

const account = (program: keyof typeof ACCOUNTS): string => `${NAMESPACE}/${ACCOUNTS[program]}`

const links = LINKS.map(({ cidr, router }) => `      - { cidr: '${cidr}', router: '${router}' }`).join('\n')

const HTTP = `http:
  # The kubelet probes readiness. Metrics require the token of Secret ${STATUS_TOKEN}; without that Secret they are off.
  host: '::'
  tokenFile: ${STATUS_TOKEN_FILE}
`

/** Settings of the programs, for people to read and change in the cluster. All settings: docs/configuration.md. */
export const SETTINGS: Readonly<Record<keyof typeof ACCOUNTS, string>> = {
  [CONTROL_PLANE]: `api:
  # Both families. HTTPS with a certificate of the agent link's own authority, which every pod of Spout gets.
  host: '::'
  tls: true
  publicUrl: https://${CONTROL_PLANE_HOST}:${API_PORT}
status:
  # Metrics require the token of Secret ${STATUS_TOKEN}; without that Secret they are off.
  host: '::'
  tokenFile: ${STATUS_TOKEN_FILE}
agentLink:
  host: '::'
  names: [${CONTROL_PLANE_HOST}, ${CONTROL_PLANE}, localhost, 127.0.0.1]
network:
  # No Service may have an endpoint in these: management, storage.
  managementCidrs: []
  # Networks of the nodes' own addresses, if they are in several: docs/operations.md, Interfaces of groups.
  fabricCidrs: []
nodes:
  # How the first node group announces addresses: vrrp, l2, or bgp, which needs localAs. Read at the very first start only.
  announcer: vrrp
kubernetes:
  enabled: true
  audience: ${AUDIENCE}
  # Identities of this installation's pods, by service account.
  accounts:
    - { account: ${account(CONNECTOR)}, role: balancer, project: ${PROJECT} }
    - { account: ${account(CONFIGURATION)}, role: admin, project: admin }
  agents: ${account(AGENT)}
  authorityConfigMap: ${NAMESPACE}/${AUTHORITY}
  network:
    project: ${PROJECT}
    name: ${POD_NETWORK}
    physicalNetwork: ${PHYSICAL_NETWORK}
    # node: pods see clients' addresses, and connections outlive every node but their pod's. It counts at the very first
    # start, and needs an agent on every node with pods: docs/kubernetes-in-cluster.md.
    returnPath: snat
    # Used inside each node, never on a wire. Change them if the cluster uses these addresses.
    links:
${links}
`,
  [CONNECTOR]: `spout:
  endpoint: https://${CONTROL_PLANE_HOST}:${API_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
  # The web page, as users reach it, such as https://spout.example.org/ui/: objects then say where it shows them.
  pageUrl: ''
network:
  # Every pod is reached through the load-balancer node itself.
  name: ${POD_NETWORK}
  routers: [${LINKS.map(({ router }) => `'${router}'`).join(', ')}]
  # All pod prefixes, if nodes do not list them in spec.podCIDRs (Calico, Cilium).
  podCidrs: []
${HTTP}services:
  # false: Services must name the class spout.dev/load-balancer, or have the annotation spout.dev/take-over: "true".
  isDefault: true
  # Slices written by hand could name any namespace's pods. List other controllers that write slices here.
  endpointSlicesBy: [${SLICE_CONTROLLER}]
`,
  [CONFIGURATION]: `work: configuration
${HTTP}spout:
  endpoint: https://${CONTROL_PLANE_HOST}:${API_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
configuration:
  project: ${PROJECT}
  nodes:
    # The nodes that carry traffic are this cluster's: what Kubernetes says of one drains it.
    follow: true
    # What kubectl cordon does. ignore: nothing; cordon: nothing new; drain: addresses move away too.
    cordon: cordon
    # Conditions that drain a node: Ready unless it is True, others while they are True (node-problem-detector).
    conditions: [Ready, NetworkUnavailable, KernelDeadlock, ReadonlyFilesystem]
    # Keys of taints that drain a node.
    taints: [node.kubernetes.io/out-of-service, ToBeDeletedByClusterAutoscaler]
    # It takes part again once its conditions have been good for this long.
    returnSeconds: 30
`,
  [AGENT]: `# They end with their container, so the agent hands its addresses over first.
daemonsEndWithAgent: true
server:
  url: https://${CONTROL_PLANE_HOST}:${LINK_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
  caFile: ${AUTHORITY_FILE}
fabric:
  # The interface that clients come in on; empty: the one with the node's own address.
  interface: ''
hostSegments: [${PHYSICAL_NETWORK}]
# No packet of a Service may go to these prefixes: management, storage.
protectedCidrs: []
# What one tenant network may use of a node, so that the others have theirs: docs/operations.md, Shares. These are the defaults.
shares:
  packetsPerProcessor: 250000
  newFlowsPerProcessor: 20000
  megabytesPerSecond: 5000
haproxy:
  maxConnections: 4000
  sourceShare: 0.5
  requestSeconds: 10
  memoryMegabytes: 256
  processors: 1
checks:
  mostOfProject: 256
  ownShare: 32
  perSecond: 2000
  perSecondOfTarget: 50
metrics:
  listen: 127.0.0.1:${AGENT_METRICS_PORT}
`,
}
