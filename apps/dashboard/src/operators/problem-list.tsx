import type { ReactNode } from 'react'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Words } from '../parts/words.tsx'
import styles from './problem-list.module.css'
import { RunbookSection, useRunbook } from './runbook-section.tsx'

export interface ListedProblem {
  readonly key: string
  /** A code of the runbook's table. */
  readonly code: string
  readonly message: string
  /** Of its section of the runbook. Absent: the code's. */
  readonly anchor?: string | null
  readonly tone?: Tone
  /** What it is about. */
  readonly subject?: ReactNode
}

/** Problems, each with what the runbook says of it. */
export const ProblemList = ({ problems }: { readonly problems: readonly ListedProblem[] }) => (
  <ul className={styles.list}>
    {problems.map(({ key, ...problem }) => (
      <Listed key={key} problem={problem} />
    ))}
  </ul>
)

function Listed({
  problem: { code, message, tone = 'bad', subject, anchor },
}: {
  readonly problem: Omit<ListedProblem, 'key'>
}) {
  const section = useRunbook(code, anchor)
  return (
    <li className={styles.problem}>
      <div className={styles.line}>
        <Badge tone={tone}>{section?.title ?? code}</Badge>
        {subject}
      </div>
      <p>
        <Words of={message} />
      </p>
      {section !== undefined && <RunbookSection section={section} />}
    </li>
  )
}
