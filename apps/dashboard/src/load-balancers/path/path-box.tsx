import { Mark } from '../../parts/badge.tsx'
import styles from './path-box.module.css'
import type { Box } from './path-graph.ts'
import type { Place } from './path-layout.ts'

interface Props {
  readonly box: Box
  /** Absent: it stands in a list. */
  readonly place: Place | undefined
  readonly isDim: boolean
  /** While it is pointed at or has the focus, its path is lit. */
  readonly onChoose: (id: string | null) => void
}

/** One thing on the path. */
export const PathBox = ({ box: { id, title, detail, tone, state, reason, column }, place, isDim, onChoose }: Props) => (
  <li
    className={`${place === undefined ? styles.row : styles.placed} ${isDim ? styles.dim : ''}`}
    style={
      place && {
        insetInlineStart: place.x,
        insetBlockStart: place.y,
        inlineSize: place.width,
        blockSize: place.height,
      }
    }
  >
    <button
      type="button"
      className={`${styles.box} ${styles[tone]} ${column === 'client' ? styles.client : ''}`}
      title={[title, detail, state, reason].filter(Boolean).join('\n')}
      onMouseEnter={() => onChoose(id)}
      onMouseLeave={() => onChoose(null)}
      onFocus={() => onChoose(id)}
      onBlur={() => onChoose(null)}
    >
      <span className={styles.title}>
        {column !== 'client' && <Mark tone={tone} />}
        <bdi>{title}</bdi>
      </span>
      {(detail !== '' || state !== '') && (
        <span className={styles.detail}>
          <bdi>{tone === 'bad' || tone === 'warn' || detail === '' ? state : detail}</bdi>
        </span>
      )}
      <span className={styles.hidden}>{[state, reason].filter(Boolean).join('. ')}</span>
    </button>
  </li>
)
