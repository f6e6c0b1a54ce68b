import type { Listener, LoadBalancer, Member, Pool } from '@spout/model'
import type { Pieces } from '@spout/runtime'

/** The source of a VIP. */
export type VipRequest =
  | { readonly from: 'pool'; readonly poolId: string; readonly address: string | null }
  | { readonly from: 'subnet'; readonly networkId: string; readonly subnetId: string; readonly address: string | null }
  /** A reserved address (a port of the Neutron facade). */
  | { readonly from: 'port'; readonly portId: string }

export interface LoadBalancerDraft {
  /**
   * Chosen by the caller, so that a retry creates no second one; absent: generated. @throws SpoutError AlreadyExists
   */
  readonly id?: string
  readonly projectId: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly enabled: boolean
  readonly vips: readonly VipRequest[]
  readonly listeners: readonly Listener[]
  readonly pools: readonly Pool[]
  readonly nodeGroupId: string | null
  /** The class may decide the node group, too. */
  readonly classId?: string
  readonly zoneId?: string
  readonly securityGroupIds?: readonly string[]
  readonly dnsNames?: readonly string[]
  readonly dnsTtlSeconds?: number | null
  readonly annotations: Readonly<Record<string, string>>
}

/** The fields that a change of a load balancer may return. Admission keeps ids, project, VIPs and generation. */
export type LoadBalancerChange = Partial<
  Pick<
    LoadBalancer,
    | 'name'
    | 'description'
    | 'tags'
    | 'enabled'
    | 'listeners'
    | 'pools'
    | 'securityGroupIds'
    | 'dnsNames'
    | 'dnsTtlSeconds'
    | 'leftNodeId'
    | 'annotations'
  >
>

/** Resolves when the next piece of long work may be done. */
export type Turn = () => Promise<void>

/** A member's endpoint, unique within its pool. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** A change to some members of a pool. The others stay. */
export interface MemberChange {
  readonly poolId: string
  /** Whole members. Each replaces the member with its address and port, whose id it must have, or is appended. */
  readonly put: readonly Member[]
  /** Removed before `put` is applied. Absent endpoints are no error. */
  readonly remove: readonly Endpoint[]
}

/**
 * Writes of load balancers. Conflicting writes of one load balancer are retried on the newer version, so no caller sees
 * a conflict because another client was busy.
 */
export interface LoadBalancerAdmission {
  /** @param turn given for a long draft: it is validated in pieces, with a turn before each */
  createLoadBalancer(draft: LoadBalancerDraft, turn?: Turn): Promise<LoadBalancer>
  /** `change` gets the newest version and returns the fields to replace. It may run again, so it must be pure. */
  changeLoadBalancer(id: string, change: (current: LoadBalancer) => LoadBalancerChange): Promise<LoadBalancer>
  /**
   * As `changeLoadBalancer`, for changes that take long. They are made and validated in pieces, with a turn before each,
   * and committed if the version is still the newest; else they are made again.
   */
  changeLongLoadBalancer(
    id: string,
    change: (current: LoadBalancer) => Pieces<LoadBalancerChange>,
    turn: Turn,
  ): Promise<LoadBalancer>
  /**
   * Changes members of a pool. The cost depends on the change, not on the pool. `change` may run again, so it must be
   * pure. Error fields are paths in the change, such as `put[0].address`.
   * @param turn given for a long change: it is made and validated in pieces, as by `changeLongLoadBalancer`
   * @throws SpoutError NotFound, also for the pool
   */
  changeMembers(
    id: string,
    change: (current: LoadBalancer) => MemberChange | Pieces<MemberChange>,
    turn?: Turn,
  ): Promise<LoadBalancer>
  /**
   * `cascade: false` refuses while listeners or pools exist (HasChildren). Addresses go into quarantine; ports that the
   * user created remain.
   */
  deleteLoadBalancer(id: string, options: { readonly cascade: boolean }): Promise<void>
  /** Adds an address. @throws SpoutError InvalidField beyond 16, and every error of an address at creation */
  addVip(id: string, request: VipRequest & { readonly from: 'pool' }): Promise<LoadBalancer>
  /** Removes and releases an address other than the first. @throws SpoutError NotFound, InvalidField, InUse */
  removeVip(id: string, address: string): Promise<LoadBalancer>
}
