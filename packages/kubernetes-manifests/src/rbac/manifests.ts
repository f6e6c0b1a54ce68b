import { Document, isMap, isSeq } from 'yaml'
import { NAMESPACE } from '../namespace.ts'
import {
  CONFIG_RULES,
  CONNECTOR_GATEWAY_RULES,
  CONNECTOR_INGRESS_RULES,
  CONNECTOR_LEASE_RULES,
  CONNECTOR_LOAD_BALANCER_RULES,
  CONNECTOR_NAMESPACE_RULES,
  CONNECTOR_RULES,
  KEYS_SECRET,
  type PolicyRule,
  STORE_RULES,
  VIEW_RULES,
} from './roles.ts'

const RBAC = 'rbac.authorization.k8s.io'

export interface RbacObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly rules?: readonly PolicyRule[]
  readonly roleRef?: object
  /** For an object that grants nothing, but belongs to a file. */
  readonly spec?: object
  readonly subjects?: readonly object[]
}

const namespace: RbacObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }

/** A service account of our namespace. */
export const account = (name: string): RbacObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: NAMESPACE },
})

/** A role with its rules and the accounts that have it. */
export function role(
  kind: 'ClusterRole' | 'Role',
  name: string,
  rules: readonly PolicyRule[],
  of: string,
): RbacObject[] {
  const apiVersion = `${RBAC}/v1`
  const metadata = { name, ...(kind === 'Role' ? { namespace: NAMESPACE } : {}) }
  const subjects = [{ kind: 'ServiceAccount', name: of, namespace: NAMESPACE }]
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup: RBAC, kind, name }, subjects },
  ]
}

/** Our IngressClass. */
const INGRESS_CLASS: RbacObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'spout' },
  spec: { controller: 'spout.dev/ingress' },
}

/**
 * RBAC objects by file. Each program has its own account, so that a stolen token has only the permissions of one
 * program.
 */
export const ACCESS: Readonly<Record<string, readonly RbacObject[]>> = {
  'connector-access': [
    namespace,
    account('connector'),
    ...role('ClusterRole', 'spout-connector', CONNECTOR_RULES, 'connector'),
    ...role('Role', 'spout-connector-lease', CONNECTOR_LEASE_RULES, 'connector'),
  ],
  // Needs connector-access, which creates the account.
  'connector-namespaces-access': role(
    'ClusterRole',
    'spout-connector-namespaces',
    CONNECTOR_NAMESPACE_RULES,
    'connector',
  ),
  // Needs connector-access, too.
  'connector-gateways-access': role('ClusterRole', 'spout-connector-gateways', CONNECTOR_GATEWAY_RULES, 'connector'),
  'connector-ingress-access': [
    ...role('ClusterRole', 'spout-connector-ingress', CONNECTOR_INGRESS_RULES, 'connector'),
    INGRESS_CLASS,
  ],
  // With the definition of the kind: crds/loadbalancers.yaml.
  'connector-load-balancers-access': role(
    'ClusterRole',
    'spout-connector-load-balancers',
    CONNECTOR_LOAD_BALANCER_RULES,
    'connector',
  ),
  'config-access': [namespace, account('config'), ...role('ClusterRole', 'spout-config', CONFIG_RULES, 'config')],
  'viewer-access': [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'spout-view', labels: { [`${RBAC}/aggregate-to-view`]: 'true' } },
      rules: VIEW_RULES,
    },
  ],
}

/** The rights of a control plane whose store is in the API of the cluster. */
export const STORE_ACCESS: readonly RbacObject[] = [
  // Without data, so that applying it again keeps what the control plane has written.
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: KEYS_SECRET, namespace: NAMESPACE } },
  ...role('Role', 'spout-store', STORE_RULES, 'control-plane'),
]

/** The object without the reasons, which become comments in the file. */
export const withoutReasons = (object: RbacObject): RbacObject & { rules?: readonly object[] } => ({
  ...object,
  ...(object.rules === undefined ? {} : { rules: object.rules.map(({ why: _, ...rule }) => rule) as never }),
})

export const accessYaml = (objects: readonly RbacObject[]): string => objects.map(yamlOf).join('---\n')

function yamlOf(object: RbacObject): string {
  const document = new Document(withoutReasons(object), { version: '1.1', aliasDuplicateObjects: false })
  const rules = document.get('rules')
  if (isSeq(rules))
    for (const [index, rule] of rules.items.entries())
      if (isMap(rule)) rule.commentBefore = ` ${object.rules?.[index]?.why ?? ''}`
  return document.toString({ lineWidth: 0 }).replace(/^%YAML.*\n---\n/, '')
}
