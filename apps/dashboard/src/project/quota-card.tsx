import { useState } from 'react'
import type { ProjectQuota } from '../api/quotas.ts'
import { Button } from '../parts/button.tsx'
import { Meter } from '../parts/meter.tsx'
import { Card } from '../parts/page.tsx'
import { useSession } from '../session/session-context.ts'
import styles from './project.module.css'
import { QuotaDialog } from './quota-dialog.tsx'
import { quotaRows } from './quota-rows.ts'
import { useClassRows } from './use-class-rows.ts'

interface Props {
  readonly projectId: string
  readonly name: string
  readonly quota: ProjectQuota
}

/** What a project uses of its quota, as bars. Administrators change it. */
export function QuotaCard({ projectId, name, quota }: Props) {
  const { may } = useSession()
  const [isChanging, setChanging] = useState(false)
  const classes = useClassRows(projectId, quota)
  return (
    <Card title="Quota">
      <div className={styles.quotas}>
        {quotaRows(quota).map(({ resource, title, used, limit, level, text }) => (
          <Meter key={resource} label={title} value={used} limit={limit} tone={level} text={text} />
        ))}
        {classes.rows.map(({ id, title, used, limit, level }) => (
          <Meter key={id} label={title} value={used} limit={limit} tone={level} />
        ))}
      </div>
      {may.operate && (
        <div>
          <Button onPress={() => setChanging(true)}>Change quota</Button>
        </div>
      )}
      {isChanging && <QuotaDialog projectId={projectId} name={name} quota={quota} onClose={() => setChanging(false)} />}
    </Card>
  )
}
