import { setTimeout as pause } from 'node:timers/promises'
import { octavia } from '../bed/octavia.ts'
import type { SpoutBed } from '../bed/spout-bed.ts'

interface ListedLoadBalancer {
  readonly id: string
  readonly updated_at: string | null
  readonly provisioning_status: string
}

/** The longest page of the API. */
const PAGE = 1000
/** Resolution of times in the API. */
const SECOND_MS = 1000
const MOST_MS = 180_000
/** Polling costs the control plane time: it may take at most a fifth of it. */
const PAUSE_FOR_A_LOOK = 4
const LEAST_PAUSE_MS = 10

/** Small even for large documents: two attributes of each. */
async function listed({ access, gateway }: SpoutBed): Promise<readonly ListedLoadBalancer[]> {
  const query = 'fields=id&fields=updated_at&fields=provisioning_status'
  const { loadbalancers } = await octavia<{ loadbalancers: readonly ListedLoadBalancer[] }>(
    access,
    gateway,
    'GET',
    `/loadbalancers?limit=${PAGE}&${query}`,
  )
  return loadbalancers
}

/**
 * Watches for one change of every load balancer (at most 1000), from now on: resolves once a change can be told from
 * everything before. `current` resolves once each was changed and confirmed by every node that carries it; with false
 * when that took longer than three minutes.
 */
export async function watchForChange(bed: SpoutBed): Promise<{ readonly current: () => Promise<boolean> }> {
  await pause(SECOND_MS + 100)
  const before = new Map((await listed(bed)).map(({ id, updated_at }) => [id, updated_at]))
  const isCurrent = async () => {
    const now = await listed(bed)
    return (
      now.length === before.size &&
      now.every((one) => one.provisioning_status === 'ACTIVE' && one.updated_at !== before.get(one.id))
    )
  }
  const current = async () => {
    const untilMs = performance.now() + MOST_MS
    while (performance.now() < untilMs) {
      const lookedMs = performance.now()
      if (await isCurrent()) return true
      await pause(Math.max(LEAST_PAUSE_MS, PAUSE_FOR_A_LOOK * (performance.now() - lookedMs)))
    }
    return false
  }
  return { current }
}

/** Duration of one poll, in ms: the resolution of `current`. */
export async function lookMs(bed: SpoutBed): Promise<number> {
  const startedMs = performance.now()
  await listed(bed)
  return performance.now() - startedMs
}
