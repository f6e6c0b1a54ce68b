import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml } from '@spout/kube'
import { NAMESPACE } from '../namespace.ts'
import { objectYaml } from '../object-yaml.ts'
import { ACCESS, accessYaml, account, type RbacObject, role } from '../rbac/manifests.ts'
import { ENDPOINT_SLICE_POLICY } from './endpoint-slice-policy.ts'
import { ACCOUNTS, AGENT, AUTHORITY, CONTROL_PLANE, labels } from './names.ts'
import { NETWORK_POLICIES } from './network-policies.ts'
import { inNamespace, type KubernetesObject } from './pod.ts'
import { AUTHORITY_RULES, CONTROL_PLANE_RULES } from './roles.ts'
import { SETTINGS } from './settings.ts'
import { WORKLOADS } from './workloads.ts'

const NAMESPACE_OBJECT: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: NAMESPACE,
    // Agents use the network of their node, which a stricter level forbids.
    labels: { ...labels('namespace'), 'pod-security.kubernetes.io/enforce': 'privileged' },
  },
}

/** The programs' accounts and rights. */
export const INSTALLED_ACCESS: readonly RbacObject[] = [
  ...[CONTROL_PLANE, AGENT].map((program) => account(ACCOUNTS[program as keyof typeof ACCOUNTS])),
  ...role('ClusterRole', 'spout-control-plane', CONTROL_PLANE_RULES, ACCOUNTS[CONTROL_PLANE]),
  ...role('Role', 'spout-authority', AUTHORITY_RULES, ACCOUNTS[CONTROL_PLANE]),
  ...[
    'connector-access',
    'connector-ingress-access',
    'connector-load-balancers-access',
    'config-access',
    'viewer-access',
  ]
    .flatMap((file) => ACCESS[file] ?? [])
    .filter(({ kind }) => kind !== 'Namespace'),
]

/** The settings of the programs. */
export const CONFIG_MAPS: readonly KubernetesObject[] = [
  // Without data, so that applying it again keeps what the control plane has written.
  inNamespace('v1', 'ConfigMap', AUTHORITY),
  ...Object.entries(SETTINGS).map(([program, text]) => ({
    ...inNamespace('v1', 'ConfigMap', program),
    data: { [`${program}.yaml`]: text },
  })),
]

/** All objects of an installation in the cluster that it serves, in the order in which to apply them. */
export function installationYaml(): string {
  return [
    objectYaml(NAMESPACE_OBJECT),
    ...customResourceDefinitions().map(crdYaml),
    accessYaml(INSTALLED_ACCESS),
    ...[...ENDPOINT_SLICE_POLICY, ...NETWORK_POLICIES, ...CONFIG_MAPS, ...WORKLOADS].map(objectYaml),
  ].join('---\n')
}
