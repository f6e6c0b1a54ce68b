import { CONFIGURATION_DRAFTS, CRD_DRAFTS, GROUP } from '@spout/custom-resources'
import { STORE_RECORDS } from '@spout/store/kubernetes'

/** rbac.authorization.k8s.io/v1 PolicyRule with the reason for it. */
export interface PolicyRule {
  readonly why: string
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const CLUSTER_UID: PolicyRule = {
  why: 'Its UID identifies this cluster.',
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: ['kube-system'],
  verbs: ['get'],
}

/** The Secret for the control plane's keys. */
export const KEYS_SECRET = 'control-plane-keys'

/** The store in the API of the cluster. No name can be given to what is created, so the namespace is the limit. */
export const STORE_RULES: readonly PolicyRule[] = [
  {
    why: 'Everything that is stored.',
    apiGroups: [STORE_RECORDS.apiVersion.split('/')[0]!],
    resources: [STORE_RECORDS.plural],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
  {
    why: 'Keys that several control planes have, and that outlive a state directory. It may touch no other Secret.',
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [KEYS_SECRET],
    verbs: ['get', 'update'],
  },
]

/** Balances Services: `packages/intents/service` in `apps/connector`. */
export const CONNECTOR_RULES: readonly PolicyRule[] = [
  {
    why: 'Finalizer and mark. The spec is never written, but RBAC cannot allow writing metadata alone.',
    apiGroups: [''],
    resources: ['services'],
    verbs: ['list', 'watch', 'patch'],
  },
  { why: 'Addresses and conditions.', apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  {
    why: 'Endpoints of Services.',
    apiGroups: ['discovery.k8s.io'],
    resources: ['endpointslices'],
    verbs: ['list', 'watch'],
  },
  { why: 'Addresses and pod prefixes of nodes.', apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
  CLUSTER_UID,
  {
    why: 'Why a Service is refused.',
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
  },
]

/** Needed only when rules select namespaces by their labels. */
export const CONNECTOR_NAMESPACE_RULES: readonly PolicyRule[] = [
  { why: 'Their labels select the project.', apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
]

const GATEWAY_API = 'gateway.networking.k8s.io'
const GATEWAY_ROUTES = ['grpcroutes', 'httproutes', 'tcproutes', 'tlsroutes', 'udproutes']

/** Needed only where Gateways are served: `packages/intents/gateway`. */
export const CONNECTOR_GATEWAY_RULES: readonly PolicyRule[] = [
  {
    why: 'Classes, routes, policies, ListenerSets and grants; their specs are never written.',
    apiGroups: [GATEWAY_API],
    resources: ['backendtlspolicies', 'gatewayclasses', ...GATEWAY_ROUTES, 'listenersets', 'referencegrants'],
    verbs: ['list', 'watch'],
  },
  {
    why: 'Finalizer and mark of Gateways; the spec is never written.',
    apiGroups: [GATEWAY_API],
    resources: ['gateways'],
    verbs: ['list', 'watch', 'patch'],
  },
  {
    why: 'Conditions and addresses.',
    apiGroups: [GATEWAY_API],
    resources: [
      ...['backendtlspolicies/status', 'gatewayclasses/status', 'gateways/status', 'listenersets/status'],
      ...GATEWAY_ROUTES.map((plural) => `${plural}/status`),
    ],
    verbs: ['patch'],
  },
  {
    why: 'Labels of namespaces decide to which listeners their routes may attach.',
    apiGroups: [''],
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
  },
]

/** Needed only where Ingresses are served: `packages/intents/ingress`. Owners of Secrets allow these one by one. */
export const CONNECTOR_INGRESS_RULES: readonly PolicyRule[] = [
  {
    why: 'Ingresses and their classes; their specs are never written.',
    apiGroups: ['networking.k8s.io'],
    resources: ['ingresses', 'ingressclasses'],
    verbs: ['list', 'watch'],
  },
  { why: 'Addresses.', apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['patch'] },
]

/** Needed only where LoadBalancer objects are served: `packages/intents/load-balancer`. */
export const CONNECTOR_LOAD_BALANCER_RULES: readonly PolicyRule[] = [
  {
    why: 'LoadBalancer objects and their finalizer; the spec is never written.',
    apiGroups: [GROUP],
    resources: ['loadbalancers'],
    verbs: ['list', 'watch', 'patch'],
  },
  { why: 'Addresses and conditions.', apiGroups: [GROUP], resources: ['loadbalancers/status'], verbs: ['patch'] },
]

/** Permissions in the namespace of the program. */
export const CONNECTOR_LEASE_RULES: readonly PolicyRule[] = [
  {
    why: 'Creates the lease of the leading connector. RBAC cannot limit this verb to a name.',
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['create'],
  },
  {
    why: 'The lease itself.',
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: ['spout-connector'],
    verbs: ['get', 'update'],
  },
]

const written = CONFIGURATION_DRAFTS.map(({ plural }) => plural)

/** For `packages/intents/kubernetes-config`. */
export const CONFIG_RULES: readonly PolicyRule[] = [
  {
    why: 'Configuration objects and their finalizer; the spec is never written.',
    apiGroups: [GROUP],
    resources: written,
    verbs: ['list', 'watch', 'patch'],
  },
  {
    why: 'Their status.',
    apiGroups: [GROUP],
    resources: written.map((plural) => `${plural}/status`),
    verbs: ['patch'],
  },
  {
    why: 'An object for each load balancer.',
    apiGroups: [GROUP],
    resources: ['observedloadbalancers'],
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
  },
  { why: 'Its status.', apiGroups: [GROUP], resources: ['observedloadbalancers/status'], verbs: ['patch'] },
  {
    why: 'Labels, taints and conditions that take a node out of use.',
    apiGroups: [''],
    resources: ['nodes'],
    verbs: ['list', 'watch'],
  },
  {
    why: 'What became of the node group of a Node.',
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
  },
  CLUSTER_UID,
]

/** For people: aggregated to the cluster role `view`. */
export const VIEW_RULES: readonly PolicyRule[] = [
  {
    why: 'Configuration objects and their status.',
    apiGroups: [GROUP],
    resources: CRD_DRAFTS.map(({ plural }) => plural),
    verbs: ['get', 'list', 'watch'],
  },
]
