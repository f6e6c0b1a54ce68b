import type { LoadBalancer } from '@spout/model'
import { certificatesOf } from '../certificates-of.ts'

/** What goes with a load balancer that is deleted, and what stays. */
export interface Released {
  /** Addresses that come from a pool or subnet: others can get them afterwards. */
  readonly addresses: readonly string[]
  readonly names: readonly string[]
  readonly parts: string
  /** Ids of certificates that it uses. They stay. */
  readonly certificateIds: readonly string[]
}

type Deleted = Pick<LoadBalancer, 'vips' | 'listeners' | 'pools' | 'dnsNames'>

export function releasedWith({ vips, listeners, pools, dnsNames = [] }: Deleted): Released {
  const members = pools.reduce((sum, pool) => sum + pool.members.length, 0)
  return {
    addresses: vips.map(({ address }) => address),
    names: dnsNames,
    parts: `${counted(listeners.length, 'listener')}, ${counted(pools.length, 'pool')}, ${counted(members, 'member')}`,
    certificateIds: [...new Set(certificatesOf({ listeners, pools }))],
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
