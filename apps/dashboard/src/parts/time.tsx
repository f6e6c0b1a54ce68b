import { useEffect, useState } from 'react'
import { absoluteTime, relativeTime } from './time-text.ts'

const REFRESH_MS = 15_000

interface Props {
  /** RFC 3339; null: `or` is shown. */
  readonly at: string | null
  readonly or?: string
  /** Whether it may be in the future. Else a clock that is ahead makes a time `now`. */
  readonly isAhead?: boolean
}

/** How long ago something was, or is ahead. The title has the time in the reader's zone. */
export function Time({ at, or = 'never', isAhead = false }: Props) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  if (at === null) return <>{or}</>
  return (
    <time dateTime={at} title={absoluteTime(at)}>
      {relativeTime(Date.parse(at), isAhead ? now : Math.max(now, Date.parse(at)))}
    </time>
  )
}
