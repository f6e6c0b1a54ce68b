import {
  API_PORT,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  LINK_PORT,
  labels,
  PEERS_PORT,
} from '../in-cluster/names.ts'
import { CACHE_VARIABLE } from '../in-cluster/pod.ts'
import type { Filling } from './holes.ts'

/**
 * Several control planes: pods with names that stay, and a Service for each, which is how the others, the agents and the
 * connectors reach it. One that is alone is a Deployment, as in `spout.yaml`.
 */

const COUNT = '(int .Values.controlPlane.replicas)'
const SEVERAL = `(gt ${COUNT} 1)`
const ALONE = `(eq ${COUNT} 1)`

/** How long a pod that ends is still asked: its removal from the Service has to reach every node. */
const SECONDS_TO_BE_LEFT = 3

const OBJECT = `Deployment/${CONTROL_PLANE}`
const SETTINGS = `ConfigMap/${CONTROL_PLANE}`
const POD = ['spec', 'template', 'spec'] as const
/** What the resources' templates print for this value, which has no values in it. */
const literally = (value: unknown): string => `{{ \`${JSON.stringify(value)}\` }}`
/** The name of the pod with the number `.`, and of its Service, seen from any namespace. */
const HOST = `${CONTROL_PLANE}-%d.%s.svc`

export const SEVERAL_FILLINGS: readonly Filling[] = [
  { object: OBJECT, at: ['kind'], put: `{{ ternary "StatefulSet" "Deployment" ${SEVERAL} }}` },
  { object: OBJECT, at: ['spec', 'strategy'], put: literally({ type: 'Recreate' }), unlessEmpty: ALONE },
  { object: OBJECT, at: ['spec', 'serviceName'], put: literally(CONTROL_PLANE), unlessEmpty: SEVERAL },
  { object: OBJECT, at: ['spec', 'podManagementPolicy'], put: literally('Parallel'), unlessEmpty: SEVERAL },
  { object: OBJECT, at: [...POD, 'containers', 0, 'env'], put: '{{ include "spout.controlPlane.env" . }}' },
  {
    // On different nodes, if possible.
    object: OBJECT,
    at: [...POD, 'topologySpreadConstraints'],
    put: literally([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels(CONTROL_PLANE) },
      },
    ]),
    unlessEmpty: SEVERAL,
  },
  {
    // It goes on answering until no node's kube-proxy leads new connections to it any more.
    object: OBJECT,
    at: [...POD, 'containers', 0, 'lifecycle'],
    put: literally({ preStop: { sleep: { seconds: SECONDS_TO_BE_LEFT } } }),
    unlessEmpty: SEVERAL,
  },
  {
    object: SETTINGS,
    at: ['data', 'control-plane.yaml', 'agentLink', 'names'],
    put: '{{ include "spout.controlPlane.names" . }}',
  },
  {
    object: SETTINGS,
    at: ['data', 'control-plane.yaml', 'peers'],
    put: literally({ host: '::' }),
    unlessEmpty: SEVERAL,
  },
  {
    object: 'ConfigMap/agent',
    at: ['data', 'agent.yaml', 'server', 'url'],
    put: `{{ printf "https://${CONTROL_PLANE}%s.%s.svc:${LINK_PORT}" (ternary "-0" "" ${SEVERAL}) .Release.Namespace }}`,
  },
  {
    object: 'ConfigMap/agent',
    at: ['data', 'agent.yaml', 'server', 'others'],
    put: '{{ include "spout.controlPlane.links" . }}',
    unlessEmpty: SEVERAL,
  },
  ...[CONNECTOR, CONFIGURATION].map((program) => ({
    object: `ConfigMap/${program}`,
    at: ['data', `${program}.yaml`, 'spout', 'endpoint'],
    put: '{{ include "spout.controlPlane.endpoint" . }}',
  })),
]

/** Named templates, which print JSON. */
export const SEVERAL_NAMED = `{{/* The variables of a control plane. Of several, each says where the others reach it. */}}
{{- define "spout.controlPlane.env" -}}
{{- $env := list (dict "name" "${CACHE_VARIABLE.name}" "value" "${CACHE_VARIABLE.value}") }}
{{- if ${SEVERAL} }}
{{- $pod := dict "name" "POD_NAME" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name")) }}
{{- $url := dict "name" "SPOUT_PEERS_URL" "value" (printf "https://$(POD_NAME).%s.svc:${PEERS_PORT}" .Release.Namespace) }}
{{- $env = concat $env (list $pod $url) }}
{{- end }}
{{- toJson $env }}
{{- end }}

{{/* The names that certificates are for. */}}
{{- define "spout.controlPlane.names" -}}
{{- $names := list (printf "${CONTROL_PLANE}.%s.svc" .Release.Namespace) "${CONTROL_PLANE}" "localhost" "127.0.0.1" }}
{{- if ${SEVERAL} }}
{{- range until ${COUNT} }}{{ $names = append $names (printf "${HOST}" . $.Release.Namespace) }}{{ end }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{/* Where agents find the one that leads, if it is not the first. The common Service is last: it stays when the number changes, and agents get the new settings one after the other. */}}
{{- define "spout.controlPlane.links" -}}
{{- $links := list }}
{{- range untilStep 1 ${COUNT} 1 }}{{ $links = append $links (printf "https://${HOST}:${LINK_PORT}" . $.Release.Namespace) }}{{ end }}
{{- toJson (append $links (printf "https://${CONTROL_PLANE}.%s.svc:${LINK_PORT}" .Release.Namespace)) }}
{{- end }}

{{/* Whom connectors ask. The common Service may lead to a node that is dead until Kubernetes has noticed, so of several each is named first. */}}
{{- define "spout.controlPlane.endpoint" -}}
{{- $common := printf "https://${CONTROL_PLANE}.%s.svc:${API_PORT}" .Release.Namespace }}
{{- if ${SEVERAL} }}
{{- $urls := list }}
{{- range until ${COUNT} }}{{ $urls = append $urls (printf "https://${HOST}:${API_PORT}" . $.Release.Namespace) }}{{ end }}
{{- toJson (append $urls $common) }}
{{- else }}
{{- $common }}
{{- end }}
{{- end }}
`

/** What more than one need: a Service for each, and that no drain of nodes takes all. */
export const SEVERAL_OBJECTS = `{{- if ${SEVERAL} }}
{{- range until ${COUNT} }}
---
apiVersion: v1
kind: Service
metadata:
  name: ${CONTROL_PLANE}-{{ . }}
  namespace: {{ $.Release.Namespace }}
  labels: ${JSON.stringify(labels(CONTROL_PLANE))}
spec:
  selector:
    statefulset.kubernetes.io/pod-name: ${CONTROL_PLANE}-{{ . }}
  ipFamilyPolicy: PreferDualStack
  # Whoever leads is reached, whatever its probe says.
  publishNotReadyAddresses: true
  ports:
    - name: api
      port: ${API_PORT}
    - name: agent-link
      port: ${LINK_PORT}
    - name: peers
      port: ${PEERS_PORT}
{{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${CONTROL_PLANE}
  namespace: {{ .Release.Namespace }}
  labels: ${JSON.stringify(labels(CONTROL_PLANE))}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: ${JSON.stringify(labels(CONTROL_PLANE))}
{{- end }}
`
