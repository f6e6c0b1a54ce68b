import { createHash } from 'node:crypto'
import {
  announcerNamed,
  CONFIGURED_ANNOUNCERS,
  defaultGroupOf,
  type GroupSettings,
  hasShards,
  lacksSettings,
  type NodeGroup,
  type PlannedMove,
  parseAs,
  SpoutError,
  sameJson,
} from '@spout/model'
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
import { checkedProjects } from '../claims/projects-of.ts'
import {
  type NodeGroupChange,
  type NodeGroupDraft,
  nodeGroupChange,
  nodeGroupDraft,
} from '../contract/node-group-admission.ts'

const HIGHEST_ROUTER_ID = 255

export async function createNodeGroup(context: AdmissionContext, input: NodeGroupDraft): Promise<NodeGroup> {
  const draft = parseAs(nodeGroupDraft, input)
  return transact(context, (claim) => {
    refuseTakenName(context, claim, draft.name, null)
    const isDefault = defaultGroupOf([...context.view.list('nodeGroup'), draft]) === draft
    const whole: NodeGroup = {
      ...newMeta(context, draft),
      announcer: draft.announcer,
      ...completeSettings({}, draft),
      ...(draft.fabric != null && { fabric: draft.fabric }),
      secondChanceSeconds: draft.secondChanceSeconds,
      ...(draft.rebalanceAfterSeconds !== undefined && { rebalanceAfterSeconds: draft.rebalanceAfterSeconds }),
      ...checkedProjects(context, draft.projectIds === undefined && !isDefault ? [] : draft.projectIds),
      flowsKey: newKey(context),
    }
    const created = settle(context, claim, whole, draft.vrrp.routerIds !== undefined)
    return { writes: [putNew('nodeGroup', created)], result: created }
  })
}

export async function changeNodeGroup(
  context: AdmissionContext,
  id: string,
  input: NodeGroupChange,
): Promise<NodeGroup> {
  const change = parseAs(nodeGroupChange, input)
  return transact(context, (claim) => {
    const stored = find(context, 'nodeGroup', id, 'node group')
    const { projectIds, fabric, ...plain } = change
    const { projectIds: projectsBefore, fabric: fabricBefore, ...before } = stored.value
    const chosen = fabric === undefined ? fabricBefore : (fabric ?? undefined)
    if (!sameJson(chosen, fabricBefore)) refuseOtherFabric(context, stored.value)
    if (plain.name !== undefined && plain.name !== stored.value.name) refuseTakenName(context, claim, plain.name, id)
    const whole: NodeGroup = {
      ...before,
      ...plain,
      ...(chosen !== undefined && { fabric: chosen }),
      ...checkedProjects(context, projectIds === undefined ? projectsBefore : projectIds),
      ...completeSettings(before, change),
      flowsKey: stored.value.flowsKey ?? newKey(context),
      updatedAt: timestampOf(context.now()),
    }
    const next = settle(context, claim, whole, change.vrrp?.routerIds !== undefined)
    return { writes: [putOver('nodeGroup', stored, next)], result: next }
  })
}

/**
 * The settings of every announcer after a request. Fields that it leaves out keep their values.
 * @throws SpoutError MissingField, InvalidField
 */
function completeSettings(
  before: Partial<GroupSettings>,
  requested: Pick<NodeGroupChange, keyof GroupSettings>,
): GroupSettings {
  const fields = CONFIGURED_ANNOUNCERS.map(({ name, settings }) => {
    const kept = before[name] ?? null
    const own = requested[name]
    if (own === undefined) return [name, kept]
    return [name, own && parseAs(settings.schema, { ...kept, ...own }, name)]
  })
  return Object.fromEntries(fields) as GroupSettings
}

/** Requests moves of shards. They replace the previous request. */
export async function rebalanceNodeGroup(
  context: AdmissionContext,
  id: string,
  moves: (group: NodeGroup) => readonly PlannedMove[],
): Promise<NodeGroup> {
  return transact(context, () => {
    const stored = find(context, 'nodeGroup', id, 'node group')
    if (!hasShards(stored.value))
      throw new SpoutError('InvalidField', { field: 'announcer', reason: `${stored.value.announcer} has no shards` })
    const rebalance = { askedAt: timestampOf(context.now()), moves: [...moves(stored.value)] }
    const next: NodeGroup = { ...stored.value, rebalance }
    return { writes: [putOver('nodeGroup', stored, next)], result: next }
  })
}

/** 32 random bytes, hex. */
const newKey = ({ random }: AdmissionContext): string => createHash('sha256').update(random.secret()).digest('hex')

/** Refused while a node, a load balancer, an enrolment token or a BGP peer refers to it. */
export async function deleteNodeGroup(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'nodeGroup', id, 'node group')
    const user = userOf(context, id)
    if (user !== null) throw new SpoutError('InUse', { what: 'node group', id, user })
    return { writes: [deleteOf('nodeGroup', stored)], result: undefined }
  })
}

function userOf({ view, now }: AdmissionContext, id: string): string | null {
  const node = view.list('node').find(({ nodeGroupId }) => nodeGroupId === id)
  if (node !== undefined) return `node ${node.name}`
  const loadBalancer = view.list('loadBalancer').find(({ nodeGroupId }) => nodeGroupId === id)
  if (loadBalancer !== undefined) return `load balancer ${loadBalancer.id}`
  const offered = view.list('loadBalancerClass').find(({ nodeGroupId }) => nodeGroupId === id)
  if (offered !== undefined) return `load balancer class ${offered.name}`
  const zone = view.list('availabilityZone').find(({ nodeGroupId }) => nodeGroupId === id)
  if (zone !== undefined) return `availability zone ${zone.name}`
  const peer = view.list('bgpPeer').find(({ nodeSelection }) => nodeSelection?.nodeGroupIds.includes(id) === true)
  if (peer !== undefined) return `BGP peer ${peer.name || peer.id}`
  const token = view
    .list('enrolmentToken')
    .find(
      ({ nodeGroupId, usedAt, expiresAt }) => nodeGroupId === id && usedAt === null && Date.parse(expiresAt) > now(),
    )
  return token === undefined ? null : `an enrolment token of node ${token.nodeName}`
}

function refuseTakenName(context: AdmissionContext, claim: Claim, name: string, ownId: string | null): void {
  const taken = context.view.list('nodeGroup').some((group) => group.name === name && group.id !== ownId)
  if (taken || !claim.name(`nodeGroup/${name}`))
    throw new SpoutError('NameTaken', { field: 'name', what: 'a node group', name })
}

/** All nodes of the group would give up what they have at the same time. */
function refuseOtherFabric({ view }: AdmissionContext, { id }: NodeGroup): void {
  const node = view.list('node').find(({ nodeGroupId }) => nodeGroupId === id)
  if (node === undefined) return
  const reason = `cannot change while the group has nodes, such as ${node.name}: make another group and move them there`
  throw new SpoutError('InvalidField', { field: 'fabric', reason })
}

/** Checks the rules between fields, and gives every shard a unique router id. */
function settle(context: AdmissionContext, claim: Claim, group: NodeGroup, explicit: boolean): NodeGroup {
  const { name, settings } = announcerNamed(group.announcer)
  if (settings !== undefined && lacksSettings(group)) parseAs(settings.schema, {}, name)
  if (!hasShards(group)) return { ...group, vrrp: { ...group.vrrp, routerIds: [] } }
  const { shards, routerIds, excludedRouterIds } = group.vrrp
  const others = new Map(
    context.view
      .list('nodeGroup')
      .filter(({ id }) => id !== group.id)
      .flatMap((other) => other.vrrp.routerIds.map((routerId) => [routerId, other.name] as const)),
  )
  if (explicit) refuseRouterIds(group, others)
  const kept = routerIds.slice(0, shards).map((id) => (excludedRouterIds.includes(id) || others.has(id) ? null : id))
  const used = new Set([...excludedRouterIds, ...others.keys(), ...kept.flatMap((id) => id ?? [])])
  const whole = Array.from({ length: shards }, (_, index) => {
    const own = kept[index] ?? null
    if (own !== null && (explicit || claim.name(`routerId/${own}`))) return own
    for (let id = 1; id <= HIGHEST_ROUTER_ID; id++)
      if (!used.has(id) && claim.name(`routerId/${id}`)) {
        used.add(id)
        return id
      }
    throw new SpoutError('InvalidField', {
      field: 'vrrp.shards',
      reason: `no VRRP router id is left for shard ${index + 1}: ${others.size} are taken, ${excludedRouterIds.length} excluded`,
    })
  })
  return { ...group, vrrp: { ...group.vrrp, routerIds: whole } }
}

/** @throws SpoutError InvalidField for wrong ids that the administrator named */
function refuseRouterIds({ vrrp }: NodeGroup, others: ReadonlyMap<number, string>): void {
  const { routerIds, shards, excludedRouterIds } = vrrp
  const refuse = (field: string, reason: string): never => {
    throw new SpoutError('InvalidField', { field, reason })
  }
  if (routerIds.length !== shards) refuse('vrrp.routerIds', `must have one for each of the ${shards} shards`)
  for (const [index, id] of routerIds.entries()) {
    const field = `vrrp.routerIds[${index}]`
    if (routerIds.indexOf(id) !== index) refuse(field, `${id} is named twice`)
    if (excludedRouterIds.includes(id)) refuse(field, `${id} is excluded`)
    const other = others.get(id)
    if (other !== undefined) refuse(field, `${id} is used by node group ${other}`)
  }
}
