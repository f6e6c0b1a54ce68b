import { KEYS_SECRET } from '../rbac/roles.ts'

/** A place in an object of the installation that a value of the chart fills. */
export interface Hole {
  /** `Kind/name` of the object. */
  readonly object: string
  /** The keys that lead there. In a ConfigMap they go on in the YAML of its text. */
  readonly at: readonly (string | number)[]
  /** The value's path in values.yaml. Its default is what the object has there without the chart. */
  readonly value: string
}

/** What the chart puts into a place by more than printing a value. */
export interface Filling {
  readonly object: string
  readonly at: readonly (string | number)[]
  /** A text, or one template action that prints YAML of one line. */
  readonly put: string
  /** A template expression: while it is empty or 0, the field is left out. */
  readonly unlessEmpty?: string
}

/** Whether the store is in the API of the cluster. */
export const STORE_IN_CLUSTER = '(eq .Values.store.kind "cluster")'

const POD = ['spec', 'template', 'spec'] as const
const PROGRAMS = {
  'control-plane': { object: 'Deployment/control-plane', values: 'controlPlane' },
  configuration: { object: 'Deployment/configuration', values: 'configuration' },
  connector: { object: 'Deployment/connector', values: 'connector' },
  agent: { object: 'DaemonSet/agent', values: 'agent' },
} as const
const CLAIM = 'PersistentVolumeClaim/control-plane'

const ofPods: readonly Hole[] = Object.values(PROGRAMS).flatMap(({ object, values }) => [
  { object, at: [...POD, 'containers', 0, 'image'], value: 'image' },
  { object, at: [...POD, 'containers', 0, 'resources'], value: `${values}.resources` },
  ...['nodeSelector', 'tolerations', 'priorityClassName'].map((field) => ({
    object,
    at: [...POD, field],
    value: `${values}.${field}`,
  })),
])

/** A setting of a program. */
const setting = (program: keyof typeof PROGRAMS, at: string, value = at): Hole => ({
  object: `ConfigMap/${program}`,
  at: ['data', `${program}.yaml`, ...at.split('.')],
  value,
})

const NODES = ['cordon', 'conditions', 'taints', 'returnSeconds']
const SHARES = ['packetsPerProcessor', 'newFlowsPerProcessor', 'megabytesPerSecond']
const PROXIES = ['maxConnections', 'sourceShare', 'requestSeconds', 'memoryMegabytes', 'processors']
const CHECKS = ['mostOfProject', 'ownShare', 'perSecond', 'perSecondOfTarget']

export const HOLES: readonly Hole[] = [
  ...ofPods,
  { object: 'Deployment/control-plane', at: ['spec', 'replicas'], value: 'controlPlane.replicas' },
  { object: 'Deployment/connector', at: ['spec', 'replicas'], value: 'connector.replicas' },
  { object: CLAIM, at: ['spec', 'resources', 'requests', 'storage'], value: 'store.volume.size' },
  setting('control-plane', 'network.managementCidrs', 'managementCidrs'),
  setting('control-plane', 'network.fabricCidrs', 'fabricCidrs'),
  setting('control-plane', 'nodes.announcer', 'announcer'),
  setting('control-plane', 'kubernetes.network.links', 'links'),
  setting('control-plane', 'kubernetes.network.returnPath', 'returnPath'),
  setting('connector', 'network.podCidrs', 'podCidrs'),
  setting('connector', 'services.isDefault', 'isDefault'),
  setting('connector', 'spout.pageUrl', 'pageUrl'),
  setting('connector', 'services.endpointSlicesBy', 'endpointSlicesBy'),
  ...NODES.map((name) => setting('configuration', `configuration.nodes.${name}`, `nodes.${name}`)),
  setting('agent', 'fabric.interface', 'fabricInterface'),
  setting('agent', 'protectedCidrs', 'managementCidrs'),
  ...SHARES.map((name) => setting('agent', `shares.${name}`)),
  ...PROXIES.map((name) => setting('agent', `haproxy.${name}`, `proxies.${name}`)),
  ...CHECKS.map((name) => setting('agent', `checks.${name}`)),
]

export const FILLINGS: readonly Filling[] = [
  ...Object.entries(PROGRAMS).flatMap(([program, { object }]) => [
    {
      object,
      at: [...POD, 'imagePullSecrets'],
      put: '{{ toJson .Values.imagePullSecrets }}',
      unlessEmpty: '.Values.imagePullSecrets',
    },
    {
      // Settings are read at the start only, so pods are replaced when theirs change.
      object,
      at: ['spec', 'template', 'metadata', 'annotations', 'spout.dev/settings'],
      put: `{{ include (print .Template.BasePath "/settings/${program}.yaml") . | sha256sum | quote }}`,
    },
  ]),
  {
    object: 'ConfigMap/connector',
    at: ['data', 'connector.yaml', 'network', 'routers'],
    put: '{{ include "spout.routers" . }}',
  },
  {
    object: 'ConfigMap/control-plane',
    at: ['data', 'control-plane.yaml', 'nodes', 'localAs'],
    put: '{{ int64 .Values.localAs }}',
    unlessEmpty: '.Values.localAs',
  },
  {
    object: 'ConfigMap/agent',
    at: ['data', 'agent.yaml', 'fabric', 'reaches'],
    put: '{{ toJson .Values.fabricReaches }}',
    unlessEmpty: '.Values.fabricReaches',
  },
  { object: 'Deployment/control-plane', at: [...POD, 'volumes', 2], put: '{{ include "spout.store" . }}' },
  {
    object: 'ConfigMap/control-plane',
    at: ['data', 'control-plane.yaml', 'store'],
    put: `{{ dict "engine" "kubernetes" "kubernetes" (dict "keysSecret" "${KEYS_SECRET}") | toJson }}`,
    unlessEmpty: STORE_IN_CLUSTER,
  },
  // The store outlives the release, as it outlives the pod.
  { object: CLAIM, at: ['metadata', 'annotations', 'helm.sh/resource-policy'], put: 'keep' },
  {
    object: CLAIM,
    at: ['spec', 'storageClassName'],
    put: '{{ toJson .Values.store.volume.storageClassName }}',
    unlessEmpty: '.Values.store.volume.storageClassName',
  },
]
