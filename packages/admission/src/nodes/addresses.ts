import {
  type Address,
  type AddressPool,
  addressKey,
  ipText,
  type Network,
  parseAs,
  SpoutError,
  type Subnet,
} from '@spout/model'
import { formatIp, type Ip, parseIp } from '@spout/net'
import { type AddressSpace, allocateAddress, NO_USAGE, poolSpace, subnetSpace } from '@spout/plan'
import type { Write } from '@spout/store'
import type { Claim } from '../claims/claims.ts'
import { type AdmissionContext, deleteOf, newMeta, putNew, putOver, timestampOf } from '../claims/context.ts'
import type { VipRequest } from '../contract/load-balancer-admission.ts'

export type NewAddressRequest = Exclude<VipRequest, { readonly from: 'port' }>

/** The use of a new address. */
export interface AddressUse {
  readonly projectId: string
  readonly use: Address['use']
  readonly ownerId: string | null
  /** An id chosen by an administrator; absent: a new one. */
  readonly portId?: string | undefined
  readonly name: string
  readonly description: string
  /** Addresses of members that the same write adds to the network. */
  readonly members?: ReadonlySet<string>
}

const ONE_ADDRESS = { ...NO_USAGE, addresses: 1 }

/**
 * Takes the requested address, and claims it and its quota.
 * @param path of the request in the draft: '' or `vips[0].`
 * @throws SpoutError ReferenceNotFound, AddressOutsideSubnet, AddressForbidden, AddressTaken, AddressPoolExhausted,
 * AddressPoolDraining, OverQuota
 */
export function takeAddress(
  context: AdmissionContext,
  claim: Claim,
  request: NewAddressRequest,
  path: string,
  use: AddressUse,
): Planned {
  const source = sourceOf(context, request, use.projectId, path)
  const requested = request.address === null ? null : parseIp(parseAs(ipText, request.address, `${path}address`))
  const allocation = allocateAddress(source.space, context.index.addressIndex(source.holderId), {
    address: requested,
    projectId: use.projectId,
    nowMs: context.now(),
    field: `${path}address`,
    ...(source.scope === 'tenant'
      ? { avoid: (ip: Ip) => use.members?.has(formatIp(ip)) || isHostOf(context, source.holderId, ip) }
      : { avoid: (ip: Ip) => context.index.localUsers(formatIp(ip)).length > 0 }),
  })
  if ('problem' in allocation) throw new SpoutError(allocation.problem.code, allocation.problem.params)
  claim.address(source.holderId, allocation.ip)
  const planned = newAddress(context, source, allocation.ip, use)
  claim.quota(use.projectId, [{ key: `address/${planned.address.id}`, usage: ONE_ADDRESS }])
  return planned
}

export interface Planned {
  readonly address: Address
  readonly write: Write
}

/** Whether a known member or router of the network has the address. */
const isHostOf = ({ index, view }: AdmissionContext, networkId: string, ip: Ip): boolean =>
  index.isMember(networkId, ip) ||
  view.get('network', networkId)?.value.routes.some(({ via }) => via === formatIp(ip)) === true

interface Source {
  readonly space: AddressSpace
  readonly scope: 'fabric' | 'tenant'
  readonly holderId: string
  readonly subnetId: string | null
}

/** @throws SpoutError ReferenceNotFound, also for another project's object; AddressPoolDraining */
function sourceOf(context: AdmissionContext, request: NewAddressRequest, projectId: string, path: string): Source {
  if (request.from === 'pool') {
    const pool = context.view.get('addressPool', request.poolId)?.value
    if (pool === undefined || !isOpenTo(pool, projectId))
      throw new SpoutError('ReferenceNotFound', { field: `${path}poolId`, what: 'address pool', id: request.poolId })
    if (pool.draining)
      throw new SpoutError('AddressPoolDraining', { field: `${path}poolId`, pool: pool.name || pool.id })
    return { space: spaceOf(pool), scope: 'fabric', holderId: pool.id, subnetId: null }
  }
  const { network, subnet } = subnetOf(context, request, projectId, path)
  return { space: subnetSpace(subnet), scope: 'tenant', holderId: network.id, subnetId: subnet.id }
}

/** The spaces of the newest versions of pools: to parse ranges takes longer than to take an address. */
const spaces = new WeakMap<AddressPool, AddressSpace>()

function spaceOf(pool: AddressPool): AddressSpace {
  const space = spaces.get(pool) ?? poolSpace(pool)
  spaces.set(pool, space)
  return space
}

const isOpenTo = (pool: AddressPool, projectId: string): boolean =>
  pool.projectIds === null || pool.projectIds.includes(projectId)

function subnetOf(
  context: AdmissionContext,
  request: { readonly networkId: string; readonly subnetId: string },
  projectId: string,
  path: string,
): { readonly network: Network; readonly subnet: Subnet } {
  const network = context.view.get('network', request.networkId)?.value
  if (network === undefined || network.projectId !== projectId)
    throw new SpoutError('ReferenceNotFound', { field: `${path}networkId`, what: 'network', id: request.networkId })
  const subnet = network.subnets.find((one) => one.id === request.subnetId)
  if (subnet === undefined)
    throw new SpoutError('ReferenceNotFound', { field: `${path}subnetId`, what: 'subnet', id: request.subnetId })
  if (subnet.reach === 'tunnel') {
    const reason = 'is behind a router (reach `tunnel`), where no node can answer for an address'
    throw new SpoutError('InvalidField', { field: `${path}subnetId`, reason })
  }
  return { network, subnet }
}

function newAddress(context: AdmissionContext, source: Omit<Source, 'space'>, ip: Ip, use: AddressUse): Planned {
  const text = formatIp(ip)
  const { id, ...meta } = newMeta(context, use)
  const address: Address = {
    ...meta,
    id: addressKey(source.holderId, text),
    tags: [],
    portId: use.portId ?? id,
    address: text,
    scope: source.scope,
    holderId: source.holderId,
    subnetId: source.subnetId,
    projectId: use.projectId,
    use: use.use,
    ownerId: use.ownerId,
    quarantineUntil: null,
  }
  return { address, write: putAddress(context, address) }
}

/** An address of the system in a tenant's subnet. It uses no quota. */
export function systemAddress(
  context: AdmissionContext,
  place: { readonly networkId: string; readonly subnetId: string },
  ip: Ip,
  use: { readonly use: 'node' | 'gateway'; readonly ownerId: string | null },
): Planned {
  const text = formatIp(ip)
  const { id: portId, ...meta } = newMeta(context, { name: '', description: '' })
  const address: Address = {
    ...meta,
    id: addressKey(place.networkId, text),
    tags: [],
    portId,
    address: text,
    scope: 'tenant',
    holderId: place.networkId,
    subnetId: place.subnetId,
    projectId: null,
    use: use.use,
    ownerId: use.ownerId,
    quarantineUntil: null,
  }
  return { address, write: putAddress(context, address) }
}

/**
 * Writes an Address object. A new address conflicts with another writer's; one in quarantine is replaced at the
 * revision that was read.
 */
function putAddress(context: AdmissionContext, address: Address): Write {
  const resting = context.view.get('address', address.id)
  return resting === null ? putNew('address', address) : putOver('address', resting, address)
}

/**
 * Releases an address. A public one is in quarantine for its pool's time, and loses its port id. One of a tenant's own
 * network is free at once.
 */
export function releaseWrite(context: AdmissionContext, address: Address): Write[] {
  const stored = context.view.get('address', address.id)
  if (stored === null) return []
  const seconds =
    address.scope === 'fabric' ? (context.view.get('addressPool', address.holderId)?.value.quarantineSeconds ?? 0) : 0
  if (seconds === 0) return [deleteOf('address', stored)]
  const nowMs = context.now()
  const resting: Address = {
    ...stored.value,
    name: '',
    description: '',
    tags: [],
    portId: context.random.uuid(),
    ownerId: null,
    updatedAt: timestampOf(nowMs),
    quarantineUntil: timestampOf(nowMs + 1000 * seconds),
  }
  return [putOver('address', stored, resting)]
}

/** Changes the owner of an address. */
export function ownWrite(context: AdmissionContext, address: Address, ownerId: string | null): Write[] {
  const stored = context.view.get('address', address.id)
  if (stored === null) return []
  return [putOver('address', stored, { ...stored.value, ownerId, updatedAt: timestampOf(context.now()) })]
}
