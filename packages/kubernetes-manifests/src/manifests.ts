import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml } from '@spout/kube'
import { installationYaml } from './in-cluster/installation.ts'
import { ACCESS, accessYaml } from './rbac/manifests.ts'

/** All of an installation in the cluster that it serves; the other files are for those who put it together themselves. */
export const INSTALLATION_FILE = 'spout.yaml'
const HEAD = '# Generated from packages/kubernetes-manifests by ./dev golden: do not edit.\n'

/** Every file of `deploy/kubernetes` that is generated: its text by its path there. */
export function manifests(): Readonly<Record<string, string>> {
  const crds = customResourceDefinitions().map((definition) => [
    `crds/${definition.metadata.name.split('.')[0]}.yaml`,
    `${HEAD}${crdYaml(definition)}`,
  ])
  const access = Object.entries(ACCESS).map(([name, objects]) => [`${name}.yaml`, `${HEAD}${accessYaml(objects)}`])
  const installation = [[INSTALLATION_FILE, `${HEAD}${installationYaml()}`]]
  return Object.fromEntries([...crds, ...access, ...installation]) as Record<string, string>
}
