import type { AnnouncerDescriptor } from './announcer.ts'

/** One node per network answers ARP and NDP for its addresses; the control plane moves them. */
export const l2 = {
  name: 'l2',
  announcedBy: 'chosen-node',
  electedBy: null,
  place: 'on the segment',
} as const satisfies AnnouncerDescriptor

/** The node announces the address unconditionally: the planner chose this node. */
export interface L2Announce {
  readonly via: 'l2'
}
