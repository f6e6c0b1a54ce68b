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
  # The kubelet asks whether it is ready. Figures are for who has the token of Secret ${STATUS_TOKEN}; for nobody while it is not there.
  host: '::'
  tokenFile: ${STATUS_TOKEN_FILE}
`

/** Settings of the programs, for people to read and change in the cluster. All settings: docs/configuration.md. */
export const SETTINGS: Readonly<Record<keyof typeof ACCOUNTS, string>> = {
  [CONTROL_PLANE]: `api:
  # Both families. HTTPS by the agent link's own authority, which every pod of Spout is given.
  host: '::'
  tls: true
  publicUrl: https://${CONTROL_PLANE_HOST}:${API_PORT}
status:
  # Figures are for who has the token of Secret ${STATUS_TOKEN}; for nobody while it is not there.
  host: '::'
  tokenFile: ${STATUS_TOKEN_FILE}
agentLink:
  host: '::'
  names: [${CONTROL_PLANE_HOST}, ${CONTROL_PLANE}, localhost, 127.0.0.1]
network:
  # No Service may have an endpoint in these: management, storage.
  managementCidrs: []
nodes:
  # How the first node group announces addresses: vrrp or l2. For bgp make a NodeGroup.
  announcer: vrrp
kubernetes:
  enabled: true
  audience: ${AUDIENCE}
  # Who the pods of this installation are here, by their service accounts.
  accounts:
    - { account: ${account(CONNECTOR)}, role: balancer, project: ${PROJECT} }
    - { account: ${account(CONFIGURATION)}, role: admin, project: admin }
  agents: ${account(AGENT)}
  authorityConfigMap: ${NAMESPACE}/${AUTHORITY}
  network:
    project: ${PROJECT}
    name: ${POD_NETWORK}
    physicalNetwork: ${PHYSICAL_NETWORK}
    # Between each node and itself, never on a wire. Others if the cluster has these addresses somewhere.
    links:
${links}
`,
  [CONNECTOR]: `spout:
  endpoint: https://${CONTROL_PLANE_HOST}:${API_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
network:
  # Every pod is reached by way of the load-balancer node itself, wherever it is.
  name: ${POD_NETWORK}
  routers: [${LINKS.map(({ router }) => `'${router}'`).join(', ')}]
  # All prefixes that pods have addresses from, if nodes do not say them in spec.podCIDRs (Calico, Cilium).
  podCidrs: []
${HTTP}services:
  # false: Services must name the class spout.dev/load-balancer.
  isDefault: true
  # Those written by hand could name any namespace's pods. Other controllers that write some are named here.
  endpointSlicesBy: [${SLICE_CONTROLLER}]
`,
  [CONFIGURATION]: `work: configuration
${HTTP}spout:
  endpoint: https://${CONTROL_PLANE_HOST}:${API_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
configuration:
  project: ${PROJECT}
`,
  [AGENT]: `server:
  url: https://${CONTROL_PLANE_HOST}:${LINK_PORT}
  serviceAccountTokenFile: ${TOKEN_FILE}
  caFile: ${AUTHORITY_FILE}
fabric:
  # The interface through which clients come; empty: the one with the node's own address.
  interface: ''
hostSegments: [${PHYSICAL_NETWORK}]
# No packet of a Service may go there: management, storage.
protectedCidrs: []
metrics:
  listen: 127.0.0.1:${AGENT_METRICS_PORT}
`,
}
