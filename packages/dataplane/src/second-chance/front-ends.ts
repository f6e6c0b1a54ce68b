import type { DomainEntry, LoadBalancerEntry, NodeVip } from '@spout/model/node-state'
import { isProxied } from '@spout/model/protocols'
import type { BySide, FrontEnd, FrontEnds } from './tables.ts'

/**
 * The front ends of an entry whose connections get a second chance: those of the proxy, and TCP of the packet path if
 * members see an address that the nodes share. With return path `gateway` any node takes a flow on from any packet but
 * the answer to its first.
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
    flows: bySide(vips, shared.length === 0 ? [] : tcp),
    shared: forwarded ? shared : [],
    byGateway: returnPath === 'gateway' && tcp.length > 0,
  }
}

export const hasFrontEnds = ({ fabric, tenant, flows, shared, byGateway }: Required<FrontEnds>): boolean =>
  byGateway || fabric.length + tenant.length + flows.fabric.length + flows.tenant.length + shared.length > 0

export const joined = (one: Required<FrontEnds>, other: Required<FrontEnds>): Required<FrontEnds> => ({
  ...bothSides(one, other),
  flows: bothSides(one.flows, other.flows),
  shared: [...one.shared, ...other.shared],
  byGateway: one.byGateway || other.byGateway,
})

/** The VIPs whose packets leave the domain by the fabric. */
export const vipsOnFabric = ({ fabric, flows }: Required<FrontEnds>): readonly string[] =>
  [...fabric, ...flows.fabric].map(({ address }) => address)

const bothSides = (one: BySide, other: BySide): BySide => ({
  fabric: [...one.fabric, ...other.fabric],
  tenant: [...one.tenant, ...other.tenant],
})

function bySide(vips: readonly NodeVip[], ports: readonly number[]): BySide {
  const of = (scope: NodeVip['scope']): readonly FrontEnd[] =>
    vips.filter((vip) => vip.scope === scope).flatMap(({ address }) => ports.map((port) => ({ address, port })))
  return { fabric: of('fabric'), tenant: of('tenant') }
}
