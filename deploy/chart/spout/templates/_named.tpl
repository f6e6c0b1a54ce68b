{{/* The routers of all links, which are the pods' next hops. */}}
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
