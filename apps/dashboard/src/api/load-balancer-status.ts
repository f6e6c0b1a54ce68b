import type { LoadBalancerStatus, MemberHealth, ServiceStats } from '@spout/model'

/** The status as the API writes it: by id, in objects. */
export interface ShownStatus extends Omit<LoadBalancerStatus, 'members' | 'stats'> {
  readonly members: Readonly<Record<string, MemberHealth>>
  readonly stats: Readonly<Record<string, ServiceStats>>
}
