import { controlSocketOf, runningSessions, type ShownSession } from '@spout/dataplane'
import type { NodePlace } from '../place.ts'

/** The BGP sessions of the node; null where its group has none. */
export type RoutersReading = {
  readonly controlSocket: string
  /** Sessions as BIRD shows them; null when no BIRD answers. */
  readonly sessions: readonly ShownSession[] | null
  readonly peers: readonly { readonly id: string; readonly address: string | null; readonly port: number }[]
} | null

export async function readRouters({ group, directories }: NodePlace): Promise<RoutersReading> {
  const settings = group?.bgp ?? null
  if (settings === null) return null
  const sessions = await runningSessions(directories.bgp).catch(() => null)
  return { controlSocket: controlSocketOf(directories.bgp), sessions, peers: settings.peers }
}
