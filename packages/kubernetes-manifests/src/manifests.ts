import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml } from '@spout/kube'
import { installationYaml } from './in-cluster/installation.ts'
import { ACCESS, accessYaml } from './rbac/manifests.ts'

/** A whole installation in the cluster that it serves. The other files are for custom installations. */
export const INSTALLATION_FILE = 'spout.yaml'
const HEAD = '# Generated from packages/kubernetes-manifests by ./dev golden: do not edit.\n'

/** The generated files of `deploy/kubernetes`: text by path. */
export function manifests(): Readonly<Record<string, string>> {
  const crds = customResourceDefinitions().map((definition) => [
    `crds/${definition.metadata.name.split('.')[0]}.yaml`,
    `${HEAD}${crdYaml(definition)}`,
  ])
  const access = Object.entries(ACCESS).map(([name, objects]) => [`${name}.yaml`, `${HEAD}${accessYaml(objects)}`])
  const installation = [[INSTALLATION_FILE, `${HEAD}${installationYaml()}`]]
  return Object.fromEntries([...crds, ...access, ...installation]) as Record<string, string>
}
