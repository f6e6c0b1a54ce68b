import { customResourceDefinitions } from '@spout/custom-resources'
import { crdYaml, customResourceDefinition } from '@spout/kube'
import { storeRecordCrd } from '@spout/store/kubernetes'
import { GENERATED } from '../generated.ts'
import { ENDPOINT_SLICE_POLICY } from '../in-cluster/endpoint-slice-policy.ts'
import { CONFIG_MAPS, INSTALLED_ACCESS } from '../in-cluster/installation.ts'
import { IMAGE } from '../in-cluster/names.ts'
import { NETWORK_POLICIES } from '../in-cluster/network-policies.ts'
import { WORKLOADS } from '../in-cluster/workloads.ts'
import { monitoringFiles } from '../monitoring/files.ts'
import { objectYaml } from '../object-yaml.ts'
import { ACCESS, accessYaml, STORE_ACCESS } from '../rbac/manifests.ts'
import { CHECKS, CRDS, NAMED, NOTES } from './fixed-templates.ts'
import { STORE_IN_CLUSTER } from './holes.ts'
import { MONITORING_TEMPLATES } from './monitoring-templates.ts'
import { SEVERAL_NAMED, SEVERAL_OBJECTS } from './several.ts'
import { inAnyNamespace, templateOf } from './templates.ts'
import { valuesSchema, valuesYaml } from './values-files.ts'

/** A template that is left out prints nothing, not even this. */
const TEMPLATE_HEAD = `{{- /* ${GENERATED.slice(2).trimEnd()} */}}\n`
const VERSION = IMAGE.slice(IMAGE.indexOf(':') + 1)

const ABOUT = {
  apiVersion: 'v2',
  name: 'spout',
  description: 'Load balancers for Services, Ingresses and Gateways of the cluster that it is installed in',
  type: 'application',
  version: VERSION,
  appVersion: VERSION,
  // Pod tokens that name the node, and ValidatingAdmissionPolicy.
  kubeVersion: '>=1.30.0-0',
}

/**
 * The files of the Helm chart: text by path. Its objects are those of `spout.yaml`, but for the namespace, which Helm
 * makes.
 */
export function chartFiles(): Readonly<Record<string, string>> {
  const crds = customResourceDefinitions().map((definition) => {
    const { name } = definition.metadata
    return [`files/crds/${name.split('.')[0]}.yaml`, `${GENERATED}${crdYaml(kept(definition))}`]
  })
  return {
    'Chart.yaml': `${GENERATED}${objectYaml(ABOUT)}`,
    'values.yaml': valuesYaml(GENERATED),
    'values.schema.json': valuesSchema(),
    ...(Object.fromEntries(crds) as Record<string, string>),
    ...Object.fromEntries(Object.entries(monitoringFiles()).map(([name, text]) => [`files/${name}`, text])),
    ...templates(),
  }
}

function templates(): Readonly<Record<string, string>> {
  const ofProgram = (kind: string, name: string) =>
    kind === 'ConfigMap' ? `settings/${name}` : `${name}-${kind.toLowerCase()}`
  const objects = [...CONFIG_MAPS, ...WORKLOADS].map((object) => {
    const { kind, metadata } = object
    const isClaim = kind === 'PersistentVolumeClaim'
    return [ofProgram(kind, metadata.name), onlyIf(isClaim ? CLAIM_WANTED : null, templateOf(object))]
  })
  const text: Readonly<Record<string, string>> = {
    ...(Object.fromEntries(objects) as Record<string, string>),
    access: inAnyNamespace(accessYaml(INSTALLED_ACCESS)),
    'gateways-access': onlyIf(
      '.Values.gatewayApi',
      inAnyNamespace(accessYaml(ACCESS['connector-gateways-access'] ?? [])),
    ),
    store: onlyIf(STORE_IN_CLUSTER, inAnyNamespace(storeYaml())),
    policies: inAnyNamespace([...ENDPOINT_SLICE_POLICY, ...NETWORK_POLICIES].map(objectYaml).join('---\n')),
    'several-control-planes': SEVERAL_OBJECTS,
    checks: CHECKS,
    crds: CRDS,
    ...MONITORING_TEMPLATES,
  }
  return {
    ...Object.fromEntries(
      Object.entries(text).map(([name, each]) => [`templates/${name}.yaml`, `${TEMPLATE_HEAD}${each}`]),
    ),
    'templates/_named.tpl': NAMED,
    'templates/_control-planes.tpl': SEVERAL_NAMED,
    'templates/NOTES.txt': NOTES,
  }
}

/** The kind of the store's records, the Secret for the keys, and the rights to both. */
function storeYaml(): string {
  const access = STORE_ACCESS.map((object) => (object.kind === 'Secret' ? kept(object) : object))
  return [crdYaml(kept(customResourceDefinition(storeRecordCrd))), accessYaml(access)].join('---\n')
}

/** The object as one that outlives the release. */
const kept = <T extends { readonly metadata: object }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } },
})

const CLAIM_WANTED =
  'and (eq .Values.store.kind "volume") .Values.store.volume.enabled (not .Values.store.volume.existingClaim)'
const onlyIf = (condition: string | null, template: string): string =>
  condition === null ? template : `{{- if ${condition} }}\n${template}{{- end }}\n`
