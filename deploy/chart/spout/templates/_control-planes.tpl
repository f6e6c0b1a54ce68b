{{/* The variables of a control plane. Of several, each says where the others reach it. */}}
{{- define "spout.controlPlane.env" -}}
{{- $env := list (dict "name" "NODE_COMPILE_CACHE" "value" "/var/cache/spout") }}
{{- if (gt (int .Values.controlPlane.replicas) 1) }}
{{- $pod := dict "name" "POD_NAME" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name")) }}
{{- $url := dict "name" "SPOUT_PEERS_URL" "value" (printf "https://$(POD_NAME).%s.svc:9133" .Release.Namespace) }}
{{- $env = concat $env (list $pod $url) }}
{{- end }}
{{- toJson $env }}
{{- end }}

{{/* The names that certificates are for. */}}
{{- define "spout.controlPlane.names" -}}
{{- $names := list (printf "control-plane.%s.svc" .Release.Namespace) "control-plane" "localhost" "127.0.0.1" }}
{{- if (gt (int .Values.controlPlane.replicas) 1) }}
{{- range until (int .Values.controlPlane.replicas) }}{{ $names = append $names (printf "control-plane-%d.%s.svc" . $.Release.Namespace) }}{{ end }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{/* Where agents find the one that leads, if it is not the first. The common Service is last: it stays when the number changes, and agents get the new settings one after the other. */}}
{{- define "spout.controlPlane.links" -}}
{{- $links := list }}
{{- range untilStep 1 (int .Values.controlPlane.replicas) 1 }}{{ $links = append $links (printf "https://control-plane-%d.%s.svc:9131" . $.Release.Namespace) }}{{ end }}
{{- toJson (append $links (printf "https://control-plane.%s.svc:9131" .Release.Namespace)) }}
{{- end }}

{{/* Whom connectors ask. The common Service may lead to a node that is dead until Kubernetes has noticed, so of several each is named first. */}}
{{- define "spout.controlPlane.endpoint" -}}
{{- $common := printf "https://control-plane.%s.svc:9130" .Release.Namespace }}
{{- if (gt (int .Values.controlPlane.replicas) 1) }}
{{- $urls := list }}
{{- range until (int .Values.controlPlane.replicas) }}{{ $urls = append $urls (printf "https://control-plane-%d.%s.svc:9130" . $.Release.Namespace) }}{{ end }}
{{- toJson (append $urls $common) }}
{{- else }}
{{- $common }}
{{- end }}
{{- end }}
