import { randomUUID } from 'node:crypto'
import type { AddressPool, LoadBalancer, Vip } from '@spout/model'
import { z } from 'zod'
import type { VipSpec } from '../resources/load-balancer.ts'
import { vipsTextOf } from '../terms/facts.ts'
import { validationFailure } from '../wire/fault.ts'
import type { NetworkDirectory } from './vip-request.ts'

/**
 * The pool that load balancers in noop mode get their addresses from. Nobody sees or announces these: clients see
 * what they asked for, several of them the same address.
 */
export const NOOP_POOL = {
  name: 'octavia-noop',
  cidr: 'fd53:706f:7574::/64',
  range: { first: 'fd53:706f:7574::1', last: 'fd53:706f:7574::ffff:ffff' },
} as const

/** Octavia's noop network driver answers with this one. */
const DEFAULT_ADDRESS = '198.51.100.1'

/** A VIP as its client named it. What the client left out is taken from stored objects that it named, or made up. */
export function noopVip(spec: VipSpec, directory: Pick<NetworkDirectory, 'subnet' | 'port'>): Vip {
  if (spec.portId === null && spec.networkId === null && spec.subnetId === null)
    throw validationFailure('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.')
  const port = spec.portId === null ? null : directory.port(spec.portId)
  const subnetId = spec.subnetId ?? port?.subnetId ?? null
  const subnet = subnetId === null ? null : directory.subnet(subnetId)
  return {
    addressId: spec.portId ?? randomUUID(),
    address: spec.address ?? port?.address ?? DEFAULT_ADDRESS,
    scope: 'tenant',
    poolId: null,
    networkId: spec.networkId ?? subnet?.network.id ?? port?.holderId ?? randomUUID(),
    subnetId: subnetId ?? randomUUID(),
  }
}

/** @throws OctaviaFault 400 */
export function noopVips(
  primary: VipSpec,
  additional: readonly VipSpec[],
  directory: Pick<NetworkDirectory, 'subnet' | 'port'>,
): readonly Vip[] {
  const first = noopVip(primary, directory)
  const vips = [first, ...additional.map((spec) => ({ ...noopVip(spec, directory), networkId: first.networkId }))]
  if (new Set(vips.map(({ subnetId }) => subnetId)).size < vips.length)
    throw validationFailure('Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.')
  return vips
}

const stored = z.array(
  z.object({
    addressId: z.string(),
    address: z.string(),
    scope: z.literal('tenant'),
    poolId: z.null(),
    networkId: z.string(),
    subnetId: z.string(),
  }),
)

/** The VIPs that clients see: in noop mode those they asked for, otherwise those of the load balancer. */
export function shownVips({ vips, annotations }: Pick<LoadBalancer, 'vips' | 'annotations'>): readonly Vip[] {
  const text = vipsTextOf(annotations)
  return text === null ? vips : stored.parse(JSON.parse(text))
}

export const isNoopPool = ({ name }: AddressPool): boolean => name === NOOP_POOL.name
