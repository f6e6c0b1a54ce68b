import type { ModelView } from '@spout/admission/contract'
import { type Network, SpoutError } from '@spout/model'
import { SEGMENT } from '../native/networks/new-network.ts'

export interface SegmentPool {
  readonly physicalNetwork: string
  /** VLAN ids to assign; null leaves every network untagged on the physical network (a single-tenant set-up). */
  readonly vlans: { readonly first: number; readonly last: number } | null
}

const HANDED_OUT_FOR_MS = 60_000

/**
 * Chooses a free segment for each new network. A segment just chosen is reserved for a while, because its network is
 * not in the view yet.
 */
export function segmentChooser(view: ModelView, pool: SegmentPool, now: () => number): () => Network['segment'] {
  const handedOut = new Map<number, number>()
  return () => {
    const { physicalNetwork, vlans } = pool
    if (vlans === null) return { physicalNetwork, vlan: null }
    for (const [vlan, atMs] of handedOut) if (now() - atMs > HANDED_OUT_FOR_MS) handedOut.delete(vlan)
    const taken = new Set(
      view
        .list('network')
        .filter(({ segment }) => segment.physicalNetwork === physicalNetwork)
        .map(({ segment }) => segment.vlan),
    )
    for (let vlan = vlans.first; vlan <= vlans.last; vlan++) {
      if (taken.has(vlan) || handedOut.has(vlan)) continue
      handedOut.set(vlan, now())
      return { physicalNetwork, vlan }
    }
    throw new SpoutError('Unavailable', { what: SEGMENT, reason: `all VLANs of ${physicalNetwork} are taken` })
  }
}
