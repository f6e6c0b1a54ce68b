import { Label } from 'react-aria-components/Label'
import { Meter as AriaMeter } from 'react-aria-components/Meter'
import type { Tone } from './badge.tsx'
import styles from './meter.module.css'

interface Props {
  readonly label: string
  readonly value: number
  /** Null: there is no limit. */
  readonly limit: number | null
  readonly tone?: Tone
  /** The figures in words, for units. Absent: plain numbers. */
  readonly text?: string
}

/** How much of a limit is used, as a bar with its figures. */
export const Meter = ({ label, value, limit, tone = 'ok', text = figures(value, limit) }: Props) => {
  const part = limit === null || limit === 0 ? 0 : Math.min(1, value / limit)
  return (
    <AriaMeter className={styles.meter} value={part * 100} valueLabel={text}>
      <span className={styles.words}>
        <Label>{label}</Label>
        <span className={styles.figures}>{text}</span>
      </span>
      <span className={styles.track}>
        <span className={`${styles.bar} ${styles[tone]}`} style={{ inlineSize: `${part * 100}%` }} />
      </span>
    </AriaMeter>
  )
}

const figures = (value: number, limit: number | null): string =>
  `${value.toLocaleString()} of ${limit === null ? 'any number' : limit.toLocaleString()}`
