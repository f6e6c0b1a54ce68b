import { GENERATED } from '../generated.ts'
import { dashboardJson } from './dashboard.ts'
import { rulesYaml } from './rules.ts'

/** The files of `deploy/monitoring`, for Prometheus and Grafana: text by path. */
export const monitoringFiles = (): Readonly<Record<string, string>> => ({
  'alerts.yaml': `${GENERATED}${rulesYaml()}`,
  'dashboard.json': dashboardJson(),
})
