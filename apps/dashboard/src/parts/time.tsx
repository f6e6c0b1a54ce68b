import { useEffect, useState } from 'react'
import { absoluteTime, relativeTime } from './time-text.ts'

const REFRESH_MS = 15_000

/** How long ago something was. The title has the time in the reader's zone. @param at RFC 3339; null: `or` */
export function Time({ at, or = 'never' }: { readonly at: string | null; readonly or?: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  if (at === null) return <>{or}</>
  return (
    <time dateTime={at} title={absoluteTime(at)}>
      {relativeTime(Date.parse(at), Math.max(now, Date.parse(at)), undefined)}
    </time>
  )
}
