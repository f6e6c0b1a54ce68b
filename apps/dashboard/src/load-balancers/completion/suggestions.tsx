import type { CaretPlace } from './caret-place.ts'
import type { Completion } from './completion.ts'
import styles from './suggestions.module.css'

interface Props {
  readonly id: string
  readonly items: readonly Completion[]
  /** Null: none yet. */
  readonly chosen: number | null
  readonly onTake: (item: Completion) => void
  readonly place: CaretPlace
}

/** More are reached by arrow keys, or found by typing: a list that scrolls would need the focus. */
const MOST_SHOWN = 8

/** What may be typed, as a list at the cursor (WAI-ARIA 1.2, `listbox`). The focus stays in the text. */
export function Suggestions({ id, items, chosen, onTake, place }: Props) {
  const first = Math.max(0, Math.min((chosen ?? 0) - MOST_SHOWN / 2, items.length - MOST_SHOWN))
  return (
    <div className={styles.list} style={besides(place)}>
      <div id={id} role="listbox" aria-label="What may stand here">
        {items.slice(first, first + MOST_SHOWN).map((item, index) => {
          const at = first + index
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text has the keys
            <div
              key={`${item.label} ${item.insert}`}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === chosen}
              aria-setsize={items.length}
              aria-posinset={at + 1}
              className={styles.item}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onTake(item)}
            >
              <span className={styles.label}>{item.label}</span>
              <span className={styles.detail}>{item.detail}</span>
              {at === chosen && item.description !== '' && (
                <span className={styles.description}>{item.description.replaceAll('`', '')}</span>
              )}
            </div>
          )
        })}
      </div>
      {items.length > MOST_SHOWN && <p className={styles.more}>{items.length} in all: arrows, or type on</p>}
    </div>
  )
}

/** Below the line, or above it where there is more room, and never wider than the text. */
const besides = ({ top, bottom, left, isLow }: CaretPlace) => ({
  ...(isLow ? { insetBlockEnd: `calc(100% - ${top}px)` } : { insetBlockStart: bottom }),
  insetInlineStart: `min(${left}px, max(0px, 100% - 24rem))`,
})
