import { setTimeout as pause } from 'node:timers/promises'
import { octavia } from '../bed/octavia.ts'
import type { SpoutBed } from '../bed/spout-bed.ts'

interface ListedLoadBalancer {
  readonly id: string
  readonly updated_at: string | null
  readonly provisioning_status: string
}

/** The longest list the API gives at a time. */
const PAGE = 1000
/** What the API tells times in. */
const SECOND_MS = 1000
const MOST_MS = 180_000
/** Looking is work for the control plane too: it takes a fifth of the time at most. */
const PAUSE_FOR_A_LOOK = 4
const LEAST_PAUSE_MS = 10

/** Small even where documents are large: two attributes of each. */
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
 * Watches for one change of every load balancer that there is (at most 1000), from now on: resolves once a change can be
 * told from everything before. `current` resolves once each was changed and every node that carries it has confirmed that;
 * with false when that did not come within three minutes.
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

/** How long one look takes, in ms: the resolution of `current`. */
export async function lookMs(bed: SpoutBed): Promise<number> {
  const startedMs = performance.now()
  await listed(bed)
  return performance.now() - startedMs
}
