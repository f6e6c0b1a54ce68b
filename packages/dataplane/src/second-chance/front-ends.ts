import type { DomainEntry, LoadBalancerEntry, NodeVip } from '@spout/model/node-state'
import { isProxied } from '@spout/model/protocols'
import type { BySide, FrontEnd, FrontEnds } from './tables.ts'

/**
 * The front ends of an entry whose connections get a second chance: those of the proxy, and TCP of the packet path if
 * members see a node. With return path `gateway` any node takes a flow on from any packet but the answer to its first.
 */
export function frontEndsOf(
  { vips, services }: Pick<LoadBalancerEntry, 'vips' | 'services'>,
  { subnets, returnPath }: Pick<DomainEntry, 'subnets' | 'returnPath'>,
): Required<FrontEnds> {
  const shared = subnets.flatMap(({ sharedAddress }) => sharedAddress ?? [])
  const ports = (isMeant: (protocol: (typeof services)[number]['protocol']) => boolean): readonly number[] =>
    services.filter(({ protocol }) => isMeant(protocol)).map(({ port }) => port)
  const tcp = ports((protocol) => protocol === 'tcp')
  const forwarded = services.some(({ protocol }) => !isProxied(protocol))
  return {
    ...bySide(vips, ports(isProxied)),
    flows: bySide(vips, returnPath === 'snat' ? tcp : []),
    shared: forwarded ? shared : [],
    byGateway: returnPath === 'gateway' && tcp.length > 0,
  }
}

/**
 * The front ends whose flows nobody but the node that translates them can carry on: members see an address of its own.
 * They get a second chance after every move, planned or not.
 */
export const onlyHere = ({ flows, shared }: Required<FrontEnds>): Required<FrontEnds> => ({
  ...NONE,
  flows: { fabric: shared.length === 0 ? flows.fabric : [], tenant: [] },
})

export const hasFrontEnds = ({ fabric, tenant, flows, shared, byGateway }: Required<FrontEnds>): boolean =>
  byGateway || fabric.length + tenant.length + flows.fabric.length + flows.tenant.length + shared.length > 0

export const joined = (all: readonly Required<FrontEnds>[]): Required<FrontEnds> => ({
  ...bothSides(all),
  flows: bothSides(all.map(({ flows }) => flows)),
  shared: all.flatMap(({ shared }) => shared),
  byGateway: all.some(({ byGateway }) => byGateway),
})

/** The VIPs whose packets leave the domain by the fabric. */
export const vipsOnFabric = ({ fabric, flows }: Required<FrontEnds>): readonly string[] =>
  [...fabric, ...flows.fabric].map(({ address }) => address)

const NO_SIDE: BySide = { fabric: [], tenant: [] }
const NONE: Required<FrontEnds> = { ...NO_SIDE, flows: NO_SIDE, shared: [], byGateway: false }

const bothSides = (all: readonly BySide[]): BySide => ({
  fabric: all.flatMap(({ fabric }) => fabric),
  tenant: all.flatMap(({ tenant }) => tenant),
})

function bySide(vips: readonly NodeVip[], ports: readonly number[]): BySide {
  const of = (scope: NodeVip['scope']): readonly FrontEnd[] =>
    vips.filter((vip) => vip.scope === scope).flatMap(({ address }) => ports.map((port) => ({ address, port })))
  return { fabric: of('fabric'), tenant: of('tenant') }
}
