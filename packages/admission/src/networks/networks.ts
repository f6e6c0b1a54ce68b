import { type Network, network, parseAs, SpoutError, type Subnet, subnet } from '@spout/model'
import { cidrContains, cidrsOverlap, endsOf, formatIp, type Ip, ipEquals, parseCidr, parseIp } from '@spout/net'
import { tunnelGateway } from '@spout/plan'
import { z } from 'zod'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { claimObjectRoom } from '../claims/object-room.ts'
import { requireProject } from '../claims/projects-of.ts'
import type { Admission } from '../contract/admission.ts'
import { isInUse } from '../indexes/admission-index.ts'
import { gatewayWrites, nodeAddressWrites } from '../nodes/node-addresses.ts'

const { projectId, name, description, returnPath, segment } = network.shape
const networkDraft = z.strictObject({ projectId, name, description, returnPath, segment })
const subnetDraft = z.strictObject({
  name: subnet.shape.name,
  description: subnet.shape.description,
  cidr: subnet.shape.cidr,
  gatewayIp: subnet.shape.gatewayIp,
  nodeRange: subnet.shape.nodeRange,
  reach: subnet.shape.reach,
})

export async function createNetwork(
  context: AdmissionContext,
  input: Parameters<Admission['createNetwork']>[0],
): Promise<Network> {
  const draft = parseAs(networkDraft, input)
  return transact(context, (claim) => {
    requireProject(context, draft.projectId)
    refuseSharedSegment(context, claim, draft)
    const meta = newMeta(context, draft)
    const number = claim.networkNumber()
    if (number === null) throw new SpoutError('Unavailable', { what: 'A network number', reason: 'all are in use' })
    const created: Network = { ...draft, ...meta, number, subnets: [], routes: [] }
    claimObjectRoom(claim, 'network', created)
    return { writes: [putNew('network', created)], result: created }
  })
}

/** Two projects on one segment could impersonate each other, so a segment belongs to one project. */
function refuseSharedSegment(context: AdmissionContext, claim: Claim, draft: z.output<typeof networkDraft>): void {
  // Where load balancers may name anything, no node carries them, and none is on a segment.
  if (context.references === 'any') return
  const { physicalNetwork, vlan } = draft.segment
  const shared = context.view
    .list('network')
    .some(
      (known) =>
        known.projectId !== draft.projectId &&
        known.segment.physicalNetwork === physicalNetwork &&
        known.segment.vlan === vlan,
    )
  if (!shared && claim.segment(`${physicalNetwork}/${vlan}`, draft.projectId)) return
  const place = vlan === null ? `untagged on ${physicalNetwork}` : `VLAN ${vlan} of ${physicalNetwork}`
  throw new SpoutError('InvalidField', { field: 'segment', reason: `${place} carries a network of another project` })
}

export async function addSubnet(
  context: AdmissionContext,
  networkId: string,
  input: Parameters<Admission['addSubnet']>[1],
): Promise<Subnet> {
  const draft = parseAs(subnetDraft, input)
  return transact(context, (claim) => {
    const stored = find(context, 'network', networkId, 'network')
    const parent = stored.value
    checkSubnet(context, parent, draft)
    const added: Subnet = { ...draft, ...newMeta(context, draft) }
    const subnets = [...parent.subnets, added]
    if (subnets.length > 32)
      throw new SpoutError('InvalidField', { field: 'cidr', reason: 'a network has at most 32 subnets' })
    const next: Network = { ...parent, subnets, updatedAt: timestampOf(context.now()) }
    claimObjectRoom(claim, 'network', next)
    const nodeIds = context.view.list('node').map(({ id }) => id)
    const writes = [
      putOver('network', stored, next),
      ...gatewayWrites(context, claim, parent, added),
      ...nodeAddressWrites(context, claim, parent, added, nodeIds),
    ]
    return { writes, result: added }
  })
}

function checkSubnet(context: AdmissionContext, parent: Network, draft: z.output<typeof subnetDraft>): void {
  const cidr = parseCidr(draft.cidr)
  const why = context.deny.whyForbiddenSubnet(cidr)
  if (why !== null) throw new SpoutError('AddressForbidden', { field: 'cidr', address: draft.cidr, reason: why })
  const overlapping = parent.subnets.find((one) => cidrsOverlap(parseCidr(one.cidr), cidr))
  if (overlapping !== undefined)
    throw new SpoutError('InvalidField', { field: 'cidr', reason: `overlaps ${overlapping.cidr} of the same network` })
  const routed = parent.routes.find(({ to }) => cidrsOverlap(parseCidr(to), cidr))
  if (routed !== undefined)
    throw new SpoutError('InvalidField', { field: 'cidr', reason: `overlaps route ${routed.to} of the same network` })
  if (draft.reach === 'tunnel') checkTunnelled(parent, draft)
  const inside = (field: string, text: string): Ip => {
    const ip = parseIp(text)
    if (!cidrContains(cidr, ip))
      throw new SpoutError('AddressOutsideSubnet', { field, address: text, cidr: draft.cidr })
    return ip
  }
  if (draft.gatewayIp !== null) {
    const gateway = inside('gatewayIp', draft.gatewayIp)
    if (endsOf(cidr).some((end) => ipEquals(end, gateway)))
      throw new SpoutError('AddressForbidden', {
        field: 'gatewayIp',
        address: formatIp(gateway),
        reason: 'it names the subnet itself or is its broadcast address',
      })
  } else if (parent.returnPath === 'gateway')
    throw new SpoutError('InvalidField', { field: 'gatewayIp', reason: 'is required: members reply through it' })
  if (draft.nodeRange === null) return
  const first = inside('nodeRange.first', draft.nodeRange.first)
  const last = inside('nodeRange.last', draft.nodeRange.last)
  if (first.value > last.value)
    throw new SpoutError('InvalidField', { field: 'nodeRange.last', reason: 'comes before nodeRange.first' })
}

/**
 * Checks a subnet that nodes reach through tunnels: its network needs return path `dsr`, and a subnet on its segment whose
 * gateway the tunnels go through.
 * @throws SpoutError InvalidField
 */
function checkTunnelled(parent: Network, { cidr, nodeRange }: z.output<typeof subnetDraft>): void {
  const refuse = (field: string, reason: string) => new SpoutError('InvalidField', { field, reason })
  if (parent.returnPath !== 'dsr')
    throw refuse('reach', `members of a network with return path ${parent.returnPath} are on its segment`)
  if (nodeRange !== null) throw refuse('nodeRange', 'nodes have no address in a subnet that is reached through tunnels')
  if (tunnelGateway(parent.subnets, cidr) === null)
    throw refuse(
      'reach',
      `the network needs a subnet of IPv${parseCidr(cidr).version} on its segment first, with the gateway through which nodes reach this one`,
    )
}

/** The address of a member that names the subnet; null if none does. It may be of the other IP version. */
function memberThatNames({ view }: AdmissionContext, { id, projectId }: Network, subnetId: string): string | null {
  for (const { networkId, pools } of view.list('loadBalancer', { projectId })) {
    if (networkId !== id) continue
    for (const { members } of pools) {
      const naming = members.find((member) => member.subnetId === subnetId)
      if (naming !== undefined) return naming.address
    }
  }
  return null
}

export async function removeSubnet(context: AdmissionContext, networkId: string, subnetId: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'network', networkId, 'network')
    const parent = stored.value
    const leaving = parent.subnets.find((one) => one.id === subnetId)
    if (leaving === undefined) throw new SpoutError('NotFound', { what: 'subnet', id: subnetId })
    const addresses = context.index.addressesOf(networkId).filter((one) => one.subnetId === subnetId)
    const tenants = addresses.find((one) => isInUse(one) && one.use !== 'node' && one.use !== 'gateway')
    if (tenants !== undefined)
      throw new SpoutError('InUse', { what: 'subnet', id: subnetId, user: `port ${tenants.portId}` })
    const cidr = parseCidr(leaving.cidr)
    for (const member of context.index.memberAddresses(networkId))
      if (cidrContains(cidr, parseIp(member)))
        throw new SpoutError('InUse', { what: 'subnet', id: subnetId, user: `member ${member}` })
    const naming = memberThatNames(context, parent, subnetId)
    if (naming !== null)
      throw new SpoutError('InUse', { what: 'subnet', id: subnetId, user: `member ${naming}, which names it` })
    const subnets = parent.subnets.filter((one) => one !== leaving)
    const stranded = subnets.find((one) => one.reach === 'tunnel' && tunnelGateway(subnets, one.cidr) === null)
    if (stranded !== undefined)
      throw new SpoutError('InUse', { what: 'subnet', id: subnetId, user: `subnet ${stranded.id}, reached through it` })
    const route = parent.routes.find(({ via }) => cidrContains(cidr, parseIp(via)))
    if (route !== undefined)
      throw new SpoutError('InUse', { what: 'subnet', id: subnetId, user: `route ${route.to} via ${route.via}` })
    const next: Network = { ...parent, subnets, updatedAt: timestampOf(context.now()) }
    return {
      writes: [putOver('network', stored, next), ...deletions(context, addresses)],
      result: undefined,
    }
  })
}

export async function deleteNetwork(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'network', id, 'network')
    const user = context.index.neighbourIn(id, null)
    if (user !== null) throw new SpoutError('InUse', { what: 'network', id, user: `load balancer ${user.id}` })
    const addresses = context.index.addressesOf(id)
    const port = addresses.find((one) => isInUse(one) && one.use !== 'node' && one.use !== 'gateway')
    if (port !== undefined) throw new SpoutError('InUse', { what: 'network', id, user: `port ${port.portId}` })
    return { writes: [deleteOf('network', stored), ...deletions(context, addresses)], result: undefined }
  })
}

const deletions = (context: AdmissionContext, addresses: readonly { readonly id: string }[]) =>
  addresses.flatMap(({ id }) => {
    const stored = context.view.get('address', id)
    return stored === null ? [] : [deleteOf('address', stored)]
  })
