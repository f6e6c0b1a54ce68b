import type {
  Address,
  AddressPool,
  ApplicationCredential,
  BgpAdvertisementIntent,
  BgpPeer,
  EnrolmentToken,
  Listener,
  LoadBalancer,
  Member,
  Network,
  NetworkRoute,
  Node,
  NodeGroup,
  PlannedMove,
  Pool,
  Project,
  Quota,
  QuotaResource,
  Role,
  Subnet,
  User,
} from '@spout/model'
import type { AddressPoolChange, AddressPoolDraft } from './address-pools.ts'
import type { BgpAdvertisementChange, BgpAdvertisementDraft } from './bgp-advertisements.ts'
import type { BgpPeerChange, BgpPeerDraft } from './bgp-peers.ts'
import type { NodeGroupChange, NodeGroupDraft } from './node-groups.ts'
import type { NodeChange } from './nodes.ts'

/** Who asks, as a surface found out. An administrator sees and changes every project. */
export interface Principal {
  readonly userId: string
  readonly userName: string
  /** The project that the token is scoped to; null for an unscoped one, which may do nothing with objects. */
  readonly projectId: string | null
  readonly roles: readonly Role[]
  readonly expiresAt: string
}

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
 * The one write path. Every method checks the whole result against the model's schema, its cross-field rules,
 * references, quotas and addresses, and commits in one transaction: a refused wish stores nothing and takes no address.
 * All throw SpoutError and nothing else for bad input; field names are paths in the given draft.
 *
 * Writes of one load balancer that collide are tried again on the newer version, so a caller never sees a conflict
 * because somebody else was busy.
 */
export interface Admission {
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

  createNetwork(draft: Pick<Network, 'projectId' | 'name' | 'description' | 'returnPath' | 'segment'>): Promise<Network>
  addSubnet(
    networkId: string,
    draft: Pick<Subnet, 'name' | 'description' | 'cidr' | 'gatewayIp' | 'nodeRange' | 'reach'>,
  ): Promise<Subnet>
  removeSubnet(networkId: string, subnetId: string): Promise<void>
  /** Replaces all of them. Refused while a member is behind one that goes. */
  setNetworkRoutes(networkId: string, routes: readonly NetworkRoute[]): Promise<Network>
  deleteNetwork(id: string): Promise<void>

  createAddressPool(draft: AddressPoolDraft): Promise<AddressPool>
  /** What is not named stays. */
  changeAddressPool(id: string, change: AddressPoolChange): Promise<AddressPool>
  deleteAddressPool(id: string): Promise<void>

  /** Reserves an address without a load balancer: a port (tenant subnet or pool) or a floating IP (pool). */
  reserveAddress(
    projectId: string,
    wish: VipWish,
    use: 'port' | 'floating',
    text: { readonly name: string; readonly description: string },
  ): Promise<Address>
  /** Binds a floating IP to the load balancer whose VIP has this port, as one more VIP; null unbinds it. */
  bindFloating(portId: string, targetPortId: string | null): Promise<Address>
  releaseAddress(portId: string): Promise<void>

  createProject(draft: Pick<Project, 'name' | 'description'>): Promise<Project>
  /** Refused while it owns anything. */
  deleteProject(id: string): Promise<void>
  setQuota(projectId: string, limits: Partial<Record<QuotaResource, number>>): Promise<Quota>
  quotaOf(projectId: string): {
    readonly limits: Readonly<Record<QuotaResource, number>>
    readonly used: Readonly<Record<QuotaResource, number>>
  }
  putUser(user: User): Promise<User>
  deleteUser(id: string): Promise<void>
  putApplicationCredential(credential: ApplicationCredential): Promise<void>
  deleteApplicationCredential(id: string): Promise<void>

  /** Router ids that the draft does not name are given out. */
  createNodeGroup(draft: NodeGroupDraft): Promise<NodeGroup>
  changeNodeGroup(id: string, change: NodeGroupChange): Promise<NodeGroup>
  /** Asks for planned moves of shards, in this order. @throws SpoutError InvalidField for a group without shards */
  rebalanceNodeGroup(id: string, moves: readonly PlannedMove[]): Promise<NodeGroup>
  /** Refused while anything names it. */
  deleteNodeGroup(id: string): Promise<void>
  createBgpPeer(draft: BgpPeerDraft): Promise<BgpPeer>
  changeBgpPeer(id: string, change: BgpPeerChange): Promise<BgpPeer>
  deleteBgpPeer(id: string): Promise<void>
  createBgpAdvertisement(draft: BgpAdvertisementDraft): Promise<BgpAdvertisementIntent>
  changeBgpAdvertisement(id: string, change: BgpAdvertisementChange): Promise<BgpAdvertisementIntent>
  deleteBgpAdvertisement(id: string): Promise<void>
  createEnrolmentToken(
    draft: Pick<EnrolmentToken, 'nodeName' | 'nodeGroupId'> & { readonly ttlSeconds: number },
  ): Promise<{ readonly token: EnrolmentToken; readonly secret: string }>
  /**
   * Uses up the token with this secret: creates or re-certifies the node it names.
   * @param request what the certificate is asked for by: the same one is answered again while the node has what it got for it
   */
  enrolNode(
    secret: string,
    certificateSha256: (nodeId: string) => Promise<string>,
    request?: string | null,
  ): Promise<Node>
  /**
   * The same for a node that proved its name in another way. One that is known stays in the group that it is in.
   * @throws SpoutError ReferenceNotFound for a group that is not there
   */
  enrolNamedNode(
    node: { readonly nodeName: string; readonly nodeGroupId: string },
    certificateSha256: (nodeId: string) => Promise<string>,
  ): Promise<Node>
  changeNode(id: string, change: NodeChange): Promise<Node>
  setNodeScheduling(id: string, scheduling: Node['scheduling']): Promise<Node>
  deleteNode(id: string): Promise<void>
}
