import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml, customResourceDefinition } from '@spout/kube'
import { storeRecordCrd } from '@spout/store/kubernetes'
import { GENERATED } from './generated.ts'
import { installationYaml } from './in-cluster/installation.ts'
import { TENANT_POLICIES } from './management-cluster/policies.ts'
import { objectYaml } from './object-yaml.ts'
import { ACCESS, accessYaml, STORE_ACCESS } from './rbac/manifests.ts'

/** The file of a whole installation in the cluster that it serves. The other files are for custom installations. */
export const INSTALLATION_FILE = 'spout.yaml'
/** The file with the rules for tenants in a provider's cluster. */
export const MANAGEMENT_CLUSTER_FILE = 'management-cluster.yaml'
/** The kind and the rights that a store in the cluster's API needs. An installation has its store on a volume. */
const STORE_FILE = 'control-plane-store.yaml'
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
  const store = [crdYaml(customResourceDefinition(storeRecordCrd)), accessYaml(STORE_ACCESS)].join('---\n')
  const policies = [[MANAGEMENT_CLUSTER_FILE, `${GENERATED}${accessYaml(TENANT_POLICIES)}`]]
  const kustomization = [['kustomization.yaml', `${GENERATED}${objectYaml(KUSTOMIZATION)}`]]
  return Object.fromEntries([
    ...[...crds, ...access, ...installation, ...policies, ...kustomization],
    [STORE_FILE, `${GENERATED}${store}`],
  ]) as Record<string, string>
}
