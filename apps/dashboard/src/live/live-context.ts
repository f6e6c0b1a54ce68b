import { createContext, useContext, useEffect } from 'react'
import type { LiveState } from './live-stream.ts'

export interface Live {
  readonly state: LiveState
  /** Adds topics to the page's stream. @returns takes them away again */
  readonly follow: (topics: readonly string[]) => () => void
}

export const LiveContext = createContext<Live>({ state: 'connecting', follow: () => () => {} })

export const useLiveState = (): LiveState => useContext(LiveContext).state

/** Topics of `GET /api/v1/events` that the page shows now, such as `load-balancer:ID`. */
export function useTopics(...topics: readonly string[]): void {
  const { follow } = useContext(LiveContext)
  const wanted = topics.join(',')
  useEffect(() => (wanted === '' ? undefined : follow(wanted.split(','))), [follow, wanted])
}
