import type { Listener, LoadBalancer, Member, Pool } from '@spout/model'

/** Where a VIP shall come from. */
export type VipWish =
  | { readonly from: 'pool'; readonly poolId: string; readonly address: string | null }
  | { readonly from: 'subnet'; readonly networkId: string; readonly subnetId: string; readonly address: string | null }
  /** An address reserved before (a port of the Neutron facade). */
  | { readonly from: 'port'; readonly portId: string }

export interface LoadBalancerDraft {
  /** Chosen by the caller, so that trying again makes no second one; else a new one is drawn. @throws SpoutError AlreadyExists */
  readonly id?: string
  readonly projectId: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly enabled: boolean
  readonly vips: readonly VipWish[]
  readonly listeners: readonly Listener[]
  readonly pools: readonly Pool[]
  readonly nodeGroupId: string | null
  readonly annotations: Readonly<Record<string, string>>
}

/** What a change of a load balancer may return; ids, project, VIPs and generation are kept by admission. */
export type LoadBalancerChange = Partial<
  Pick<LoadBalancer, 'name' | 'description' | 'tags' | 'enabled' | 'listeners' | 'pools' | 'annotations'>
>

/** Where a member is; no two of a pool share one. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** What happens to some of a pool's members; the others stay as they are. */
export interface MemberChange {
  readonly poolId: string
  /** Whole members. One takes the place of that with its address and port, whose id it has, or comes behind the others. */
  readonly put: readonly Member[]
  /** Goes before the others come. What is not there is no error. */
  readonly remove: readonly Endpoint[]
}

/**
 * Writes of load balancers. Those of one load balancer that collide are tried again on the newer version, so a caller
 * never sees a conflict because somebody else was busy.
 */
export interface LoadBalancerAdmission {
  createLoadBalancer(draft: LoadBalancerDraft): Promise<LoadBalancer>
  /** `change` gets the newest version and returns the fields to replace; it may run again, so it must be pure. */
  changeLoadBalancer(id: string, change: (current: LoadBalancer) => LoadBalancerChange): Promise<LoadBalancer>
  /**
   * Changes members of a pool, at a cost that depends on them and not on the pool. `change` may run again, so it must be
   * pure. Fields in errors are those of the change, such as `put[0].address`. @throws SpoutError NotFound, also for the pool
   */
  changeMembers(id: string, change: (current: LoadBalancer) => MemberChange): Promise<LoadBalancer>
  /** `cascade: false` refuses while listeners or pools exist (HasChildren). Addresses go to quarantine; ports that the user made stay his. */
  deleteLoadBalancer(id: string, options: { readonly cascade: boolean }): Promise<void>
  /** One more address. @throws SpoutError InvalidField beyond 16, and what an address can be refused for at creation */
  addVip(id: string, wish: VipWish & { readonly from: 'pool' }): Promise<LoadBalancer>
  /** Takes an address away that is not the first, and lets it go. @throws SpoutError NotFound, InvalidField, InUse */
  removeVip(id: string, address: string): Promise<LoadBalancer>
}
