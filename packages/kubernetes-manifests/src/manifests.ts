import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml } from '@spout/kube'
import { installationYaml } from './in-cluster/installation.ts'
import { TENANT_POLICIES } from './management-cluster/policies.ts'
import { ACCESS, accessYaml } from './rbac/manifests.ts'

/** The file of a whole installation in the cluster that it serves. The other files are for custom installations. */
export const INSTALLATION_FILE = 'spout.yaml'
/** The file with the rules for tenants in a provider's cluster. */
export const MANAGEMENT_CLUSTER_FILE = 'management-cluster.yaml'
const HEAD = '# Generated from packages/kubernetes-manifests by ./dev golden: do not edit.\n'

/** The generated files of `deploy/kubernetes`: text by path. */
export function manifests(): Readonly<Record<string, string>> {
  const crds = customResourceDefinitions().map((definition) => [
    `crds/${definition.metadata.name.split('.')[0]}.yaml`,
    `${HEAD}${crdYaml(definition)}`,
  ])
  const access = Object.entries(ACCESS).map(([name, objects]) => [`${name}.yaml`, `${HEAD}${accessYaml(objects)}`])
  const installation = [[INSTALLATION_FILE, `${HEAD}${installationYaml()}`]]
  const policies = [[MANAGEMENT_CLUSTER_FILE, `${HEAD}${accessYaml(TENANT_POLICIES)}`]]
  return Object.fromEntries([...crds, ...access, ...installation, ...policies]) as Record<string, string>
}
