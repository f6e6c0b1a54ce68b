import { askOn, type Caller, waitFor } from '@spout/testkit'
import type { PodAnswer } from './service-lab.ts'

export interface Experience {
  readonly count: number
  /** Reason and time of each request that was not answered with 200. */
  readonly failed: readonly string[]
  /** Pods that answered. */
  readonly pods: ReadonlySet<string>
  /** The longest that one request took. */
  readonly longestMs: number
}

export interface PoliteClient {
  /** Waits until it has sent this many more requests. */
  goesOn(times: number): Promise<unknown>
  stop(): Promise<Experience>
}

/** The longest that a client waits. A SYN lost on a dying node is repeated after a second. */
const PATIENCE_MS = 5000
const MOST_TOLD = 20

/**
 * Sends one request after the other until stopped, each on a new connection. It never retries: one failed request is a
 * failure.
 */
export function askPolitely(client: Caller, address: string, port = 80): PoliteClient {
  const failed: string[] = []
  const pods = new Set<string>()
  let count = 0
  let longestMs = 0
  const began = performance.now()
  const asking = askOn(async () => {
    const askedMs = performance.now()
    const outcome = await client.http(address, port, { timeoutMs: PATIENCE_MS })
    const why = !outcome.ok ? outcome.code : outcome.value.status === 200 ? null : String(outcome.value.status)
    const tookMs = performance.now() - askedMs
    if (why !== null)
      failed.push(`${why} in ${Math.round(tookMs)} ms, after ${Math.round(askedMs - began)} ms and ${count} others`)
    else if (outcome.ok) pods.add((JSON.parse(outcome.value.body) as PodAnswer).pod)
    longestMs = Math.max(longestMs, tookMs)
    count++
    return outcome
  })
  return {
    goesOn: (times) => {
      const goal = count + times
      return waitFor(() => count >= goal, { what: `${times} requests to ${address}`, timeoutMs: 60_000 })
    },
    stop: async () => {
      await asking.stop()
      const told =
        failed.length > MOST_TOLD ? [...failed.slice(0, MOST_TOLD), `and more, ${failed.length} in all`] : failed
      return { count, failed: told, pods, longestMs: Math.round(longestMs) }
    },
  }
}
