/** Templates of the chart that are no objects of the installation. */

/** Named templates, which print YAML of one line. */
export const NAMED = `{{/* The routers of all links, which are the pods' next hops. */}}
{{- define "spout.routers" -}}
{{- $routers := list }}
{{- range .Values.links }}{{ $routers = append $routers .router }}{{ end }}
{{- toJson $routers }}
{{- end }}

{{/* The volume of the control plane's store. */}}
{{- define "spout.store" -}}
{{- if and (eq .Values.store.kind "volume") .Values.store.volume.enabled }}
{{- dict "name" "state" "persistentVolumeClaim" (dict "claimName" (default "control-plane" .Values.store.volume.existingClaim)) | toJson }}
{{- else }}
{{- dict "name" "state" "emptyDir" (dict) | toJson }}
{{- end }}
{{- end }}
`

/** What the schema cannot say, because it is between values. */
export const CHECKS = `{{- if and (eq .Values.announcer "bgp") (not .Values.localAs) }}
{{- fail "localAs: announcer bgp needs the AS number of the nodes, 1 to 4294967295" }}
{{- end }}
{{- if and .Values.localAs (ne .Values.announcer "bgp") }}
{{- fail (printf "localAs: announcer %s has no AS number: leave it at 0, or set announcer to bgp" .Values.announcer) }}
{{- end }}
{{- if and .Values.fabricReaches .Values.fabricInterface }}
{{- fail "fabricReaches: is not used while fabricInterface names the interface: leave one of them empty" }}
{{- end }}
{{- if gt (int64 .Values.checks.ownShare) (int64 .Values.checks.mostOfProject) }}
{{- fail "checks.ownShare: is more than checks.mostOfProject, of which it is a part" }}
{{- end }}
{{- if and (eq .Values.store.kind "cluster") .Values.store.volume.existingClaim }}
{{- fail "store.volume.existingClaim: is not used with store.kind cluster" }}
{{- end }}
{{- if and (gt (int .Values.controlPlane.replicas) 1) (ne .Values.store.kind "cluster") }}
{{- fail (printf "controlPlane.replicas: more than one needs store.kind cluster: one process has the store of kind %s" .Values.store.kind) }}
{{- end }}
{{- if and .Values.store.volume.existingClaim (not .Values.store.volume.enabled) }}
{{- fail "store.volume.existingClaim: is not used while store.volume.enabled is false" }}
{{- end }}
`

/**
 * The definitions are templates, not files of \`crds/\`, which Helm never changes after the first installation: an older
 * definition would drop the new fields of objects without a word. The price: a definition that is in the cluster already,
 * from \`kubectl apply\`, must be handed over with \`--take-ownership\`.
 */
export const CRDS = `{{- if .Values.crds.install }}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
---
{{ $.Files.Get $path }}
{{- end }}
{{- end }}
`

export const NOTES = `Spout {{ .Chart.AppVersion }} is in namespace {{ .Release.Namespace }}. What to do next:

1. Wait for its pods. The others start once the control plane has written its authority:

   kubectl --namespace {{ .Release.Namespace }} rollout status {{ ternary "statefulset" "deployment" (gt (int .Values.controlPlane.replicas) 1) }}/control-plane daemonset/agent
{{- if and (eq .Values.store.kind "volume") .Values.store.volume.enabled }}

   A control plane that stays Pending has no volume: see the events of PersistentVolumeClaim {{ default "control-plane" .Values.store.volume.existingClaim }}.
{{- end }}

2. Say which addresses Services may have, all of them unused and routed to the nodes' network:

   kubectl apply --filename - <<END
   apiVersion: spout.dev/v1alpha1
   kind: AddressPool
   metadata: {name: public}
   spec:
     subnet: 198.51.100.0/24
     addresses: [{first: 198.51.100.16, last: 198.51.100.250}]
   END
{{- if eq .Values.announcer "bgp" }}

   And name the routers: a BgpPeer for each.
{{- end }}

3. Create a Service of type LoadBalancer{{ if not .Values.isDefault }} with class spout.dev/load-balancer{{ end }}. kubectl get service shows its address,
   and its conditions say why it has none.

4. Metrics are off until there is a token for them:

   kubectl --namespace {{ .Release.Namespace }} create secret generic status-token --from-literal=token="$(openssl rand -hex 24)"
{{- if and (eq .Values.store.kind "volume") (not .Values.store.volume.enabled) }}

Warning: the store is on no volume. When the pod of the control plane goes, run:

   kubectl --namespace {{ .Release.Namespace }} rollout restart deployment,daemonset
{{- end }}

If a pod of daemonset/agent is refused, the namespace enforces a Pod Security level that agents cannot have:

   kubectl label namespace {{ .Release.Namespace }} pod-security.kubernetes.io/enforce=privileged
`
