import type { ProjectQuota } from '../api/quotas.ts'
import { Meter } from '../parts/meter.tsx'
import { Card } from '../parts/page.tsx'
import styles from './project.module.css'
import { quotaRows } from './quota-rows.ts'

/** What a project uses of its quota, as bars. */
export const QuotaCard = ({ quota }: { readonly quota: ProjectQuota }) => (
  <Card title="Quota">
    <div className={styles.quotas}>
      {quotaRows(quota).map(({ resource, title, used, limit, level, text }) => (
        <Meter key={resource} label={title} value={used} limit={limit} tone={level} text={text} />
      ))}
      {quota.classes.map(({ id, name, used, limit }) => (
        <Meter key={id} label={`Load balancers of class ${name}`} value={used} limit={limit} />
      ))}
    </div>
  </Card>
)
