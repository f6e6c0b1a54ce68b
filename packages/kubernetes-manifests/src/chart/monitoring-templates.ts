/** Templates for the Prometheus operator and Grafana's sidecar. All are off by default. */

const METADATA = (values: string, name: string) => `metadata:
  name: ${name}
  namespace: {{ .Release.Namespace }}
  labels: {{ toJson (merge (dict "app.kubernetes.io/name" "spout") .Values.monitoring.${values}.labels) }}
`

export const MONITORING_TEMPLATES: Readonly<Record<string, string>> = {
  'pod-monitor': `{{- if .Values.monitoring.podMonitor.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
${METADATA('podMonitor', 'spout')}spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: spout
  # Agents are in their nodes' network and listen on loopback alone: the control plane has the metrics of every node.
  podMetricsEndpoints:
    - port: status
      path: /metrics
      interval: {{ toJson .Values.monitoring.podMonitor.interval }}
      authorization:
        credentials:
          name: status-token
          key: token
{{- end }}
`,
  'prometheus-rule': `{{- if .Values.monitoring.prometheusRule.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
${METADATA('prometheusRule', 'spout')}spec:
{{ .Files.Get "files/alerts.yaml" | indent 2 }}
{{- end }}
`,
  dashboard: `{{- if .Values.monitoring.dashboard.enabled }}
apiVersion: v1
kind: ConfigMap
${METADATA('dashboard', 'dashboard')}data:
  dashboard.json: |
{{ .Files.Get "files/dashboard.json" | indent 4 }}
{{- end }}
`,
}
