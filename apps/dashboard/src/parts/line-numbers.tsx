import { type RefObject, useEffect, useMemo, useRef } from 'react'
import styles from './line-numbers.module.css'

interface Props {
  readonly text: string
  /** The text area, which must not wrap lines. */
  readonly area: RefObject<HTMLTextAreaElement | null>
}

/** The numbers of a text area's lines, which scroll with it. Screen readers do not read them. */
export function LineNumbers({ text, area }: Props) {
  const numbers = useRef<HTMLPreElement>(null)
  const count = useMemo(() => text.split('\n').length, [text])
  const shown = useMemo(() => Array.from({ length: count }, (_, index) => index + 1).join('\n'), [count])
  useEffect(() => {
    const element = area.current
    const follow = (): void => {
      if (numbers.current !== null && element !== null) numbers.current.scrollTop = element.scrollTop
    }
    element?.addEventListener('scroll', follow, { passive: true })
    return () => element?.removeEventListener('scroll', follow)
  }, [area])
  return (
    <pre ref={numbers} className={styles.numbers} aria-hidden="true">
      {shown}
    </pre>
  )
}
