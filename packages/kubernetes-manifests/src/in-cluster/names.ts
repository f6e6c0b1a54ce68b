import { NAMESPACE } from '../namespace.ts'

/** Built from deploy/image/Dockerfile; an installation names its own registry before it. */
export const IMAGE = 'spout:0.1.0'
/** What tokens of our service accounts are meant for: the API server takes them from nobody. */
export const AUDIENCE = 'spout.dev'

export const CONTROL_PLANE = 'control-plane'
export const CONNECTOR = 'connector'
export const CONFIGURATION = 'configuration'
export const AGENT = 'agent'
/** ConfigMap: whom to believe to be the control plane. The control plane writes it, every other pod waits for it. */
export const AUTHORITY = 'authority'

export const API_PORT = 9130
export const LINK_PORT = 9131
export const STATUS_PORT = 9133
export const AGENT_METRICS_PORT = 9132
export const CONTROL_PLANE_STATUS_PORT = 9134

/** Under this name pods reach the control plane, whatever the cluster's own domain is called. */
export const CONTROL_PLANE_HOST = `${CONTROL_PLANE}.${NAMESPACE}.svc`

/** The account that configures has been called so since before there was this installation. */
export const ACCOUNTS = {
  [CONTROL_PLANE]: CONTROL_PLANE,
  [CONNECTOR]: 'connector',
  [CONFIGURATION]: 'config',
  [AGENT]: AGENT,
} as const

/** Where pods find things. */
export const SETTINGS_DIRECTORY = '/etc/spout'
/** Of a Secret that need not be there: while it is not, nobody is given figures. */
export const STATUS_TOKEN = 'status-token'
export const STATUS_TOKEN_FILE = '/etc/spout-status/token'
export const AUTHORITY_FILE = '/etc/spout-authority/ca.crt'
export const TOKEN_FILE = '/var/run/secrets/spout/token'
export const STATE_DIRECTORY = '/var/lib/spout'
export const AGENT_STATE_DIRECTORY = '/var/lib/spout-agent'

/** Between a node and its own domain; nothing of it is ever on a wire. */
export const LINKS = [
  { cidr: '100.127.0.0/20', router: '100.127.0.1' },
  { cidr: 'fd73:706f:7575::/64', router: 'fd73:706f:7575::1' },
] as const
/** The project whose load balancers the cluster's Services are, its network of pods, and what that is to agents. */
export const PROJECT = 'cluster'
export const POD_NETWORK = 'pods'
export const PHYSICAL_NETWORK = 'cluster'

/** Who makes EndpointSlices of pods that a Service selects: the connector of this installation takes no others. */
export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io'

export const labels = (component: string) => ({
  'app.kubernetes.io/name': 'spout',
  'app.kubernetes.io/component': component,
})
