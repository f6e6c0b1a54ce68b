import {
  type LoadBalancer,
  type LocalLoadBalancer,
  loadBalancer as loadBalancerSchema,
  parseAs,
  SpoutError,
  sameJson,
} from '@spout/model'
import { forbiddenRange, type Ip, parseIp, parseIpRange, rangeContains } from '@spout/net'
import { type LocalIds, localLoadBalancer } from '@spout/plan'
import type { Claim } from '../claims/claims.ts'
import { type AdmissionContext, deleteOf, putNew, putOver, timestampOf, transact } from '../claims/context.ts'
import type { LocalAdoption } from '../contract/local-admission.ts'
import { whyNotOnFabric } from '../nodes/fabric-claims.ts'

/** Stores a load balancer as its nodes' settings have it, without a network: no plan sends it to a node. */
export async function adoptLoadBalancer(context: AdmissionContext, adoption: LocalAdoption): Promise<void> {
  const { nodeGroupId, loadBalancer: given } = adoption
  await transact(context, (claim) => {
    const found = context.index.adopted(nodeGroupId, given.name)
    const stored = found === null ? null : context.view.get('loadBalancer', found.id)
    if (stored?.value.vips[0]?.address !== given.address) claimAddress(context, claim, adoption)
    const wanted = documentOf(context, adoption, stored?.value ?? null)
    if (stored === null) return { writes: [putNew('loadBalancer', wanted)], result: undefined }
    const { generation, updatedAt } = stored.value
    if (sameJson({ ...wanted, generation, updatedAt }, stored.value)) return { writes: [], result: undefined }
    const next = { ...wanted, generation: generation + 1, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('loadBalancer', stored, next)], result: undefined }
  })
}

export async function abandonLoadBalancer(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = context.view.get('loadBalancer', id)
    const isOurs = stored?.value.localName === undefined
    return { writes: stored === null || isOurs ? [] : [deleteOf('loadBalancer', stored)], result: undefined }
  })
}

/** @throws SpoutError InUse for one that only its nodes' settings change */
export function refuseAdopted({ name, localName }: LoadBalancer): void {
  if (localName === undefined) return
  const user = `the settings of its nodes, local.loadBalancers.${localName}: change it there`
  throw new SpoutError('InUse', { what: 'Load balancer', id: name, user })
}

/** What stays keeps its id. New ones cannot be guessed, so that no tenant has them already. */
function idsOf({ random }: AdmissionContext, stored: LoadBalancer | null): LocalIds {
  const [pool] = stored?.pools ?? []
  const members = pool?.members ?? []
  return {
    loadBalancer: stored?.id ?? random.uuid(),
    vip: stored?.vips[0]?.addressId ?? random.uuid(),
    listener: stored?.listeners[0]?.id ?? random.uuid(),
    pool: pool?.id ?? random.uuid(),
    monitor: pool?.monitor?.id ?? random.uuid(),
    member: (address, port) => members.find((one) => one.address === address && one.port === port)?.id ?? random.uuid(),
  }
}

function documentOf(context: AdmissionContext, adoption: LocalAdoption, stored: LoadBalancer | null): LoadBalancer {
  const { projectId, nodeGroupId, loadBalancer: given } = adoption
  const createdAt = stored?.createdAt ?? timestampOf(context.now())
  const ids = idsOf(context, stored)
  const document = localLoadBalancer(given, { projectId, networkId: null, nodeGroupId, createdAt, ids })
  return parseAs(loadBalancerSchema, { ...document, localName: given.name })
}

/**
 * Keeps the address from allocations under way. A node may not take one that it could not have: no tenant could name it
 * any more.
 */
function claimAddress(context: AdmissionContext, claim: Claim, adoption: LocalAdoption): void {
  const { name, address }: LocalLoadBalancer = adoption.loadBalancer
  const { index, view } = context
  const field = `local.loadBalancers.${name}.address`
  const ip = parseIp(address)
  const why = forbiddenRange(ip) ?? whyNotOnFabric({ fabric: context.fabric, nodes: view.list('node') }, ip)
  if (why !== null) throw new SpoutError('AddressForbidden', { field, address, reason: why })
  const pools = view.list('addressPool').filter(({ ranges }) => ranges.some((range) => isIn(range, ip)))
  const isTaken = pools.some(({ id }) => !index.addressIndex(id).isFreeFor(ip, null, context.now()))
  const others = [...index.localUsers(address)].filter((user) => user.nodeGroupId !== adoption.nodeGroupId)
  if (isTaken || others.length > 0 || index.isNodeFabricAddress(address))
    throw new SpoutError('AddressTaken', { field, address })
  for (const { id } of pools) claim.address(id, ip)
}

const isIn = ({ first, last }: { readonly first: string; readonly last: string }, ip: Ip): boolean =>
  rangeContains(parseIpRange(`${first}-${last}`), ip)
