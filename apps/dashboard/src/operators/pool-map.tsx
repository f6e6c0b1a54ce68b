import { type KeyboardEvent, useId, useState } from 'react'
import { type Cell, cellAfterKey, poolCells } from './pool-cells.ts'
import type { Run } from './pool-runs.ts'
import styles from './pools-page.module.css'
import { projectColours } from './project-colours.ts'
import { runText } from './run-text.ts'

/** Limit of squares. */
const MOST = 1024

interface Props {
  readonly name: string
  readonly runs: readonly Run[]
  readonly projects: ReadonlyMap<string, string>
}

/** A pool as a map of squares. One is chosen with the pointer or the arrow keys, and told about below. */
export function PoolMap({ name, runs, projects }: Props) {
  const id = useId()
  const [chosen, setChosen] = useState(0)
  const cells = poolCells(runs, MOST)
  const colours = projectColours(runs)
  const at = Math.min(chosen, cells.length - 1)
  const run = runs[cells[at]?.run ?? -1]
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const columns = getComputedStyle(event.currentTarget).gridTemplateColumns.split(' ').length
    const next = cellAfterKey(event.key, at, cells.length, columns)
    if (next === null) return
    event.preventDefault()
    setChosen(next)
  }
  return (
    <div className={styles.whole}>
      <div
        className={styles.map}
        role="listbox"
        tabIndex={0}
        aria-label={`Map of ${name}`}
        aria-activedescendant={`${id}-${at}`}
        onKeyDown={onKeyDown}
      >
        {cells.map((cell, place) => (
          <Square
            // biome-ignore lint/suspicious/noArrayIndexKey: a square is its place
            key={place}
            id={`${id}-${place}`}
            cell={cell}
            run={runs[cell.run]!}
            isChosen={place === at}
            colour={colours.get(runs[cell.run]!.projectId ?? '')}
            text={runText(runs[cell.run]!, projects)}
            onChoose={() => setChosen(place)}
          />
        ))}
      </div>
      <p className={styles.told}>
        {run !== undefined && <bdi>{runText(run, projects)}</bdi>}
        {cells[at] !== undefined &&
          cells[at].count > 1n &&
          ` (a square is ${cells[at].count.toLocaleString()} addresses)`}
      </p>
      <Legend colours={colours} projects={projects} />
    </div>
  )
}

interface SquareProps {
  readonly id: string
  readonly cell: Cell
  readonly run: Run
  readonly isChosen: boolean
  readonly colour: number | undefined
  readonly text: string
  readonly onChoose: () => void
}

const Square = ({ id, cell, isChosen, colour, text, onChoose }: SquareProps) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the map has the keys
  // biome-ignore lint/a11y/useFocusableInteractive: the map has the focus, and names the chosen square
  <div
    id={id}
    role="option"
    aria-selected={isChosen}
    aria-label={text}
    className={`${styles.square} ${styles[cell.state]} ${colour === undefined ? '' : styles[`series${colour}`]}`}
    onClick={onChoose}
    onPointerEnter={onChoose}
  />
)

const Legend = ({
  colours,
  projects,
}: {
  readonly colours: ReadonlyMap<string, number>
  readonly projects: Props['projects']
}) => (
  <ul className={styles.legend}>
    <li>
      <span className={`${styles.sample} ${styles.free}`} /> free
    </li>
    <li>
      <span className={`${styles.sample} ${styles.resting}`} /> rests
    </li>
    <li>
      <span className={`${styles.sample} ${styles.excluded}`} /> never given out
    </li>
    {[...colours].map(([projectId, colour]) => (
      <li key={projectId}>
        <span className={`${styles.sample} ${styles.taken} ${styles[`series${colour}`]}`} />{' '}
        <bdi>{projects.get(projectId) ?? 'Spout itself'}</bdi>
      </li>
    ))}
  </ul>
)
