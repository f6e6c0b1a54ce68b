import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { keys } from '../api/query-keys.ts'
import { useSession } from '../session/session-context.ts'
import { applyEvents } from './apply-events.ts'
import type { StreamEvent } from './event-splitter.ts'
import { LiveContext } from './live-context.ts'
import { LiveLink } from './live-link.ts'
import type { LiveState } from './live-stream.ts'
import { counted, type TopicCounts } from './topic-counts.ts'

/** Events of this long are shown at once, so that a hundred in a second draw ten pictures. */
const GATHER_MS = 100
/** How long a refused stream waits while the session holds. */
const REFUSED_MS = 2000
const ALWAYS = ['load-balancers', 'objects'] as const

/** Keeps one stream open for the whole page, with the topics that its parts follow. */
export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient()
  const { expiresAt } = useSession()
  const [state, setState] = useState<LiveState>('connecting')
  const [attempt, setAttempt] = useState(0)
  const [counts, setCounts] = useState<TopicCounts>(new Map())
  const topics = [...ALWAYS, ...[...counts.keys()].sort()].join(',')
  const follow = useCallback((wanted: readonly string[]) => {
    setCounts((now) => counted(now, wanted, 1))
    return () => setCounts((now) => counted(now, wanted, -1))
  }, [])

  const link = useRef<LiveLink>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new session needs a new stream, and so does a new attempt
  useEffect(() => {
    const gathered: StreamEvent[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const show = (): void => {
      timer = undefined
      applyEvents(client, gathered.splice(0))
    }
    let retry: ReturnType<typeof setTimeout> | undefined
    const tryAgainInSession = async (): Promise<void> => {
      await client.refetchQueries({ queryKey: keys.session })
      if (client.getQueryState(keys.session)?.status === 'success' && !isOver)
        retry = setTimeout(() => setAttempt((count) => count + 1), REFUSED_MS)
    }
    link.current = new LiveLink({
      onState: (next) => {
        setState(next)
        if (next === 'ended') void tryAgainInSession()
      },
      onEvent: (event) => {
        gathered.push(event)
        timer ??= setTimeout(show, GATHER_MS)
      },
    })
    return () => {
      isOver = true
      clearTimeout(timer)
      clearTimeout(retry)
      link.current?.stop()
    }
  }, [client, expiresAt, attempt])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new link follows nothing yet
  useEffect(() => link.current?.follow(topics.split(',')), [topics, client, expiresAt, attempt])

  const live = useMemo(() => ({ state, follow }), [state, follow])
  return <LiveContext value={live}>{children}</LiveContext>
}
