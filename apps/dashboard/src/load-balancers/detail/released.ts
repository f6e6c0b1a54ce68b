import type { LoadBalancer } from '@spout/model'
import { certificatesOf } from '../certificates-of.ts'

/** What goes with a load balancer that is deleted, and what stays. The server says which addresses and names go. */
export interface Released {
  readonly parts: string
  /** Ids of certificates that it uses. They stay. */
  readonly certificateIds: readonly string[]
}

type Deleted = Pick<LoadBalancer, 'listeners' | 'pools'>

export function releasedWith({ listeners, pools }: Deleted): Released {
  const members = pools.reduce((sum, pool) => sum + pool.members.length, 0)
  return {
    parts: `${counted(listeners.length, 'listener')}, ${counted(pools.length, 'pool')}, ${counted(members, 'member')}`,
    certificateIds: [...new Set(certificatesOf({ listeners, pools }))],
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
