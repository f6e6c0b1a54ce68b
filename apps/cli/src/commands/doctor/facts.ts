import { call, type Session } from '@spout/client/api'
import type {
  Address,
  AddressPool,
  BgpPeer,
  Certificate,
  CertificateValidity,
  Node,
  NodeGroup,
  NodeStatus,
  Serving,
} from '@spout/model'

export type ShownNode = Node & { readonly status: Omit<NodeStatus, 'nodeId'> }
export type ShownCertificate = Certificate & { readonly status: CertificateValidity }

/** A load balancer, as far as the checks read it. */
export interface ShownLoadBalancer {
  readonly id: string
  readonly name: string
  readonly status: {
    readonly provisioning: 'pending' | 'active' | 'error'
    readonly reason: string
    readonly message: string
    readonly serving: Serving
  }
}

export interface ShownVip {
  readonly address: string
  readonly loadBalancerId: string
  readonly loadBalancerName: string
  readonly nodeGroup: string | null
  readonly announcer: string
  readonly state: 'announced' | 'not-announced' | 'two-owners'
  readonly owners: readonly string[]
}

/** All that the checks read: the lists of the native API, as an administrator sees them. */
export interface Facts {
  readonly nodes: readonly ShownNode[]
  readonly groups: readonly NodeGroup[]
  readonly vips: readonly ShownVip[]
  readonly loadBalancers: readonly ShownLoadBalancer[]
  readonly certificates: readonly ShownCertificate[]
  readonly pools: readonly AddressPool[]
  readonly addresses: readonly Pick<Address, 'holderId' | 'address'>[]
  readonly peers: readonly BgpPeer[]
}

/** Reads the facts. @throws ApiProblem when the token is not an administrator's */
export async function readFacts(session: Session): Promise<Facts> {
  const items = async <T>(path: string) => (await call<{ items: readonly T[] }>(session, 'GET', path)).items
  return {
    // First what only administrators may read: others are refused at once.
    nodes: await items('/nodes'),
    groups: await items('/node-groups'),
    vips: await items('/vips'),
    loadBalancers: await items('/load-balancers'),
    certificates: await items('/certificates'),
    pools: await items('/address-pools'),
    addresses: await items('/addresses'),
    peers: await items('/bgp-peers'),
  }
}
