import type { AuditRecord, Project } from '@spout/model'
import { Badge } from '../parts/badge.tsx'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import styles from './audit-page.module.css'

interface Props {
  readonly records: readonly AuditRecord[]
  readonly projects: readonly Project[]
}

/** Records of the audit log. */
export const AuditTable = ({ records, projects }: Props) =>
  records.length === 0 ? (
    <p className={styles.soft}>Nothing was recorded that fits.</p>
  ) : (
    <Table label="Audit log" head={['When', 'Who', 'Project', 'What', 'Object', 'Result', 'From']}>
      {records.map((record) => {
        const { time, requestId, userName, userId, projectId, operation, object, status, code, from } = record
        return (
          <tr key={`${requestId} ${operation} ${object}`}>
            <td className={styles.short}>
              <Time at={time} />
            </td>
            <td>
              <Name of={userName ?? ''} or={userId ?? 'nobody'} />
            </td>
            <td>
              <Name of={projects.find(({ id }) => id === projectId)?.name ?? ''} or={projectId ?? '–'} />
            </td>
            <td className={`${styles.code} ${styles.operation}`}>{operation}</td>
            <td className={styles.code}>
              <Name of={object ?? ''} or="–" />
            </td>
            <td>
              <Badge tone={status < 400 ? 'ok' : 'bad'}>
                {status}
                {code !== null && ` ${code}`}
              </Badge>
            </td>
            <td className={`${styles.code} ${styles.short}`}>{from ?? '–'}</td>
          </tr>
        )
      })}
    </Table>
  )
