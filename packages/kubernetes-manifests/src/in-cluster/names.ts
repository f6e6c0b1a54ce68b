import { NAMESPACE } from '../namespace.ts'

/** The image that `./dev image` builds. An installation puts its own registry in front. */
export const IMAGE = 'spout:0.1.0'
/** The audience of our service accounts' tokens. The API server accepts no token for it. */
export const AUDIENCE = 'spout.dev'

export const CONTROL_PLANE = 'control-plane'
export const CONNECTOR = 'connector'
export const CONFIGURATION = 'configuration'
export const AGENT = 'agent'
/**
 * ConfigMap with the control plane's certificate authority. The control plane writes it; all other pods wait for it.
 */
export const AUTHORITY = 'authority'

export const API_PORT = 9130
export const LINK_PORT = 9131
export const STATUS_PORT = 9133
export const AGENT_METRICS_PORT = 9132
export const CONTROL_PLANE_STATUS_PORT = 9134
/** Where one of several control planes answers for the others. */
export const PEERS_PORT = 9133

/** Host name of the control plane for pods, whatever the cluster's own domain is. */
export const CONTROL_PLANE_HOST = `${CONTROL_PLANE}.${NAMESPACE}.svc`

/**
 * Service accounts by program. That of the configuration loop is older than this installation and has kept its name.
 */
export const ACCOUNTS = {
  [CONTROL_PLANE]: CONTROL_PLANE,
  [CONNECTOR]: 'connector',
  [CONFIGURATION]: 'config',
  [AGENT]: AGENT,
} as const

/** Paths in the pods, from here to `AGENT_STATE_DIRECTORY`. */
export const SETTINGS_DIRECTORY = '/etc/spout'
/** An optional Secret with the token for metrics. Without it nobody may read them. */
export const STATUS_TOKEN = 'status-token'
export const STATUS_TOKEN_FILE = '/etc/spout-status/token'
export const AUTHORITY_FILE = '/etc/spout-authority/ca.crt'
export const TOKEN_FILE = '/var/run/secrets/spout/token'
export const STATE_DIRECTORY = '/var/lib/spout'
export const AGENT_STATE_DIRECTORY = '/var/lib/spout-agent'

/** Addresses between a node and its own domains. They never leave the node. */
export const LINKS = [
  { cidr: '100.127.0.0/20', router: '100.127.0.1' },
  { cidr: 'fd73:706f:7575::/64', router: 'fd73:706f:7575::1' },
] as const
/** The project of the cluster's Services, its network of pods, and that network's name for agents. */
export const PROJECT = 'cluster'
export const POD_NETWORK = 'pods'
export const PHYSICAL_NETWORK = 'cluster'

/**
 * The manager of EndpointSlices for Services with a selector. The connector of this installation ignores those of
 * others.
 */
export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io'

export const labels = (component: string) => ({
  'app.kubernetes.io/name': 'spout',
  'app.kubernetes.io/component': component,
})
