import { objectYaml } from '../object-yaml.ts'
import { anchorOf } from './alert.ts'
import { ALERTS } from './alerts.ts'

/** The alerts as a rules file of Prometheus. */
export const rulesYaml = (): string => objectYaml(alertGroups())

const alertGroups = (): object => ({
  groups: [
    {
      name: 'spout',
      rules: ALERTS.map(({ name, expression, lasts, severity, summary, description, heading }) => ({
        alert: name,
        expr: expression,
        ...(lasts !== '0s' && { for: lasts }),
        labels: { severity },
        annotations: { summary, description, runbook: `docs/runbook.md#${anchorOf(heading)}` },
      })),
    },
  ],
})
