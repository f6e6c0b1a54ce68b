import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml } from '@spout/kube'
import { GENERATED } from './generated.ts'
import { installationYaml } from './in-cluster/installation.ts'
import { TENANT_POLICIES } from './management-cluster/policies.ts'
import { objectYaml } from './object-yaml.ts'
import { ACCESS, accessYaml } from './rbac/manifests.ts'

/** The file of a whole installation in the cluster that it serves. The other files are for custom installations. */
export const INSTALLATION_FILE = 'spout.yaml'
/** The file with the rules for tenants in a provider's cluster. */
export const MANAGEMENT_CLUSTER_FILE = 'management-cluster.yaml'
/** What makes the folder a base for kustomize. */
const KUSTOMIZATION = {
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: [INSTALLATION_FILE],
}

/** The generated files of `deploy/kubernetes`: text by path. */
export function manifests(): Readonly<Record<string, string>> {
  const crds = customResourceDefinitions().map((definition) => [
    `crds/${definition.metadata.name.split('.')[0]}.yaml`,
    `${GENERATED}${crdYaml(definition)}`,
  ])
  const access = Object.entries(ACCESS).map(([name, objects]) => [`${name}.yaml`, `${GENERATED}${accessYaml(objects)}`])
  const installation = [[INSTALLATION_FILE, `${GENERATED}${installationYaml()}`]]
  const policies = [[MANAGEMENT_CLUSTER_FILE, `${GENERATED}${accessYaml(TENANT_POLICIES)}`]]
  const kustomization = [['kustomization.yaml', `${GENERATED}${objectYaml(KUSTOMIZATION)}`]]
  return Object.fromEntries([...crds, ...access, ...installation, ...policies, ...kustomization]) as Record<
    string,
    string
  >
}
