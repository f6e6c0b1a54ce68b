import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { LineNumbers } from '../../parts/line-numbers.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { type CaretPlace, caretPlace } from './caret-place.ts'
import styles from './completing-text.module.css'
import type { Completion } from './completion.ts'
import { type Completions, completionsAt } from './completions-at.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { goToLine } from './go-to-line.ts'
import type { Nameable } from './nameable.ts'
import { Suggestions } from './suggestions.tsx'

interface Props {
  readonly label: string
  readonly rows: number
  readonly value: string
  readonly onChange: (value: string) => void
  /** What is wrong with the text; null: nothing. Lines count from 1; null when it is about no line. */
  readonly fault: { readonly line: number | null; readonly reason: string } | null
  readonly nameable: Nameable
}

/** What may stand where somebody typed, or asked for it. */
interface Shown extends Completions {
  readonly place: CaretPlace
}

/** A text area for YAML that says what may stand where somebody types. Enter takes what an arrow key has chosen. */
export function CompletingText({ value, onChange, fault, nameable, ...rest }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const list = useId()
  const [shown, setShown] = useState<Shown | null>(null)
  const [chosen, setChosen] = useState<number | null>(null)
  const items = shown?.items ?? NOTHING
  useCountTold(items.length)

  const close = (): void => setShown(null)
  /** @param isWanted by Ctrl+Space: then also where no word begins */
  const ask = (element: HTMLTextAreaElement, isWanted: boolean): void => {
    const found = completionsAt(element.value, element.selectionStart, DOCUMENT_SCHEMA, nameable)
    const word = element.value.slice(found.from, found.to)
    const [first] = found.items
    const isWhole = found.items.length === 1 && (first?.label === word || first?.insert === word)
    const isNothing = found.items.length === 0 || isWhole || (word === '' && !isWanted)
    setShown(isNothing ? null : { ...found, place: caretPlace(element, found.from) })
    setChosen(isWanted ? 0 : null)
  }
  const take = ({ insert }: Completion): void => {
    const element = area.current
    if (element === null || shown === null) return
    element.focus()
    element.setSelectionRange(shown.from, shown.to)
    // Unlike a new value it can be undone by keyboard.
    document.execCommand('insertText', false, insert)
    if (/\s$/.test(insert)) ask(element, true)
    else close()
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { key, ctrlKey } = event
    if (key === ' ' && ctrlKey) {
      event.preventDefault()
      ask(event.currentTarget, true)
      return
    }
    const item = chosen === null ? undefined : items[chosen]
    if (items.length === 0) return
    if (key === 'ArrowDown') setChosen(chosen === null ? 0 : (chosen + 1) % items.length)
    else if (key === 'ArrowUp') setChosen(((chosen ?? 0) - 1 + items.length) % items.length)
    else if (key === 'Escape') close()
    else if (key === 'Enter' && item !== undefined) take(item)
    else {
      if (MOVES.has(key)) close()
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className={styles.around}>
      <TextInput
        {...rest}
        value={value}
        onChange={onChange}
        error={fault && <FaultText {...fault} onGo={(line) => area.current && goToLine(area.current, line)} />}
        beside={<LineNumbers text={value} area={area} />}
        hint="Ctrl+Space shows what may stand at the cursor."
        area={{
          ref: area,
          wrap: 'off',
          onKeyDown: press,
          onInput: (event) => ask(event.currentTarget, false),
          onClick: close,
          onBlur: close,
          'aria-autocomplete': 'list',
          'aria-haspopup': 'listbox',
          'aria-controls': shown !== null ? list : undefined,
          'aria-activedescendant': shown !== null && chosen !== null ? `${list}-${chosen}` : undefined,
        }}
      />
      {shown !== null && <Suggestions id={list} items={items} chosen={chosen} onTake={take} place={shown.place} />}
    </div>
  )
}

interface FaultProps extends NonNullable<Props['fault']> {
  readonly onGo: (line: number) => void
}

/** What is wrong, with a button that leads to its line. */
const FaultText = ({ line, reason, onGo }: FaultProps) =>
  line === null ? (
    reason
  ) : (
    <>
      <Button variant="inText" onPress={() => onGo(line)}>
        Line {line}
      </Button>
      : {reason}
    </>
  )

const NOTHING: readonly Completion[] = []
/** Keys that leave the word. */
const MOVES: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown', 'Enter'])

/** Tells screen readers that there are suggestions, when they appear and not at each letter. */
function useCountTold(count: number): void {
  const announce = useAnnounce()
  const isShown = count > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count at the time it appears
  useEffect(() => {
    if (isShown) announce(`${count} ${count === 1 ? 'suggestion' : 'suggestions'}, arrows choose.`)
  }, [isShown, announce])
}
