import { randomUUID } from 'node:crypto'
import type { AddressPool, LoadBalancer, Vip } from '@spout/model'
import { z } from 'zod'
import { vipsTextOf } from './facts.ts'
import type { VipSpec } from './resources/load-balancer.ts'
import { validationFailure } from './wire/fault.ts'

/**
 * The pool that addresses of load balancers in noop mode come from. Nobody sees or announces them: clients are shown
 * what they asked for, several of them the same address.
 */
export const NOOP_POOL = {
  name: 'octavia-noop',
  cidr: 'fd53:706f:7574::/64',
  range: { first: 'fd53:706f:7574::1', last: 'fd53:706f:7574::ffff:ffff' },
} as const

/** Octavia's noop network driver answers with this one. */
const DEFAULT_ADDRESS = '198.51.100.1'

/** A VIP as its client named it, with what it left out filled in. */
export function noopVip(spec: VipSpec): Vip {
  if (spec.portId === null && spec.networkId === null && spec.subnetId === null)
    throw validationFailure('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.')
  return {
    addressId: spec.portId ?? randomUUID(),
    address: spec.address ?? DEFAULT_ADDRESS,
    scope: 'tenant',
    poolId: null,
    networkId: spec.networkId ?? randomUUID(),
    subnetId: spec.subnetId ?? randomUUID(),
  }
}

/** @throws OctaviaFault 400 */
export function noopVips(primary: VipSpec, additional: readonly VipSpec[]): readonly Vip[] {
  const first = noopVip(primary)
  const vips = [first, ...additional.map((spec) => ({ ...noopVip(spec), networkId: first.networkId }))]
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

/** The VIPs that clients see: those they asked for in noop mode, else its own. */
export function shownVips({ vips, annotations }: Pick<LoadBalancer, 'vips' | 'annotations'>): readonly Vip[] {
  const text = vipsTextOf(annotations)
  return text === null ? vips : stored.parse(JSON.parse(text))
}

export const isNoopPool = ({ name }: AddressPool): boolean => name === NOOP_POOL.name
