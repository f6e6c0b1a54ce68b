import type { PlannedMoveAdmission, ViewOf } from '@spout/admission/contract'
import {
  entryHash,
  FABRIC_OF_GROUP,
  fabricAddressOf,
  hasShards,
  type Node,
  type NodeGroup,
  type OwnershipReader,
  type StatusReader,
} from '@spout/model'
import {
  type AwaitedNodes,
  canTakeOver,
  type GroupNode,
  type GroupPlan,
  type GroupPlanInput,
  heldBack,
  KNOWN_WITHIN_MS,
  type MoveStep,
  movesEndAtMs,
  moveUnderWay,
  planGroup,
  type Reason,
  unreadyOf,
} from '@spout/plan'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import { PeerWatch, type SightReader } from '../liveness/peer-watch.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { stepsOf } from '../shards/shard-moves.ts'
import { BegunMoves } from './begun-moves.ts'
import { connectionOf } from './planned-connection.ts'

/** The kinds that a plan of a group reads. The compiler makes `ChangeRouter` follow each of them. */
export type ReadByGroups = 'node' | 'nodeGroup' | 'bgpPeer' | 'bgpAdvertisement'

export interface GroupPublisherOptions {
  readonly view: ViewOf<ReadByGroups>
  readonly cluster: ClusterIndex
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  /** Reads what nodes confirmed, and the progress of drains and moves. */
  readonly status: Pick<StatusReader, 'confirmedHash' | 'node' | 'onChange'> &
    Pick<OwnershipReader, 'shards'> &
    SightReader
  readonly placements: Pick<PlacementLog, 'ownedBy'>
  readonly admission: PlannedMoveAdmission
  readonly clock: Clock
  readonly log: Logger
}

/** The nodes of a group, and what is planned for them, once one of them has begun to drain. */
export interface DrainedGroup {
  readonly nodes: readonly GroupNode[]
  readonly plan: GroupPlan
  /** The nodes that the drain waits for. Null: none. */
  readonly waitsFor: AwaitedNodes | null
}

/**
 * Publishes each node's part in its group. A group is planned as a whole whenever an input changes: its inputs are a
 * few nodes, and nothing of tenants.
 */
export class GroupPublisher {
  readonly #options: GroupPublisherOptions
  /** By group id: ids of the nodes that have its entry now. */
  readonly #published = new Map<string, ReadonlySet<string>>()
  readonly #timers = new Map<string, Timer>()
  /** Ids of groups with a drain, or a move, that waits for reports of nodes. */
  readonly #waiting = new Set<string>()
  readonly #begun: BegunMoves
  /** Drains whose node reported that no client is left (`drainOf`). */
  readonly #departed = new Set<string>()
  /** Nodes that came from another group and have its addresses, each with its last move. */
  readonly #arriving = new Map<string, object>()
  readonly #peers: PeerWatch
  readonly #unsubscribe: () => void

  constructor(options: GroupPublisherOptions) {
    this.#options = options
    this.#peers = new PeerWatch(options)
    this.#begun = new BegunMoves({ ...options, onFailed: (groupId) => this.publish(groupId) })
    this.#unsubscribe = options.status.onChange((kind, id) => {
      const groupId = kind === 'node' ? options.cluster.groupOfNode(id) : null
      if (groupId === null) return
      this.#peers.reported(groupId)
      const departed = this.#noteDeparture(id)
      if (departed || this.#waiting.has(groupId)) this.publish(groupId)
    })
  }

  publishAll(): void {
    for (const { id } of this.#options.view.list('nodeGroup')) this.publish(id)
  }

  /**
   * Call when a node comes from another group. Until the returned function is called it keeps its part in that group, and
   * the new one is planned without it.
   */
  arrives(nodeId: string): () => void {
    const move = {}
    this.#arriving.set(nodeId, move)
    return () => {
      if (this.#arriving.get(nodeId) !== move) return
      this.#arriving.delete(nodeId)
      const groupId = this.#options.cluster.groupOfNode(nodeId)
      if (groupId !== null) this.publish(groupId)
    }
  }

  publish(groupId: string): void {
    const { view, nodeStates, clock, cluster } = this.#options
    const group = cluster.group(groupId)
    // First, because this may change the liveness of a node, which the plan below reads.
    if (group !== null) this.#peers.update(group)
    const nodes = this.#nodesOf(groupId)
    const before = this.#published.get(groupId) ?? new Set<string>()
    this.#timers.get(groupId)?.clear()
    this.#timers.delete(groupId)
    this.#waiting.delete(groupId)
    const now = new Set(group === null ? [] : nodes.map(({ id }) => id))
    const plan = group === null ? null : this.#plan(group)
    // A node that moved to another group is left to that group. The index may still contain a deleted node.
    const mine = new Set([...before, ...now].filter((id) => now.has(id) || view.get('node', id) === null))
    nodeStates.setOn(mine, 'group', plan?.entries ?? new Map())
    for (const id of mine) nodeStates.setProblems(id, plan?.problems.get(id) ?? [])
    if (view.get('nodeGroup', groupId) === null && now.size === 0) this.#published.delete(groupId)
    else this.#published.set(groupId, now)
    if (plan !== null && plan.againAtMs !== null)
      this.#timers.set(
        groupId,
        clock.setTimer(() => this.publish(groupId), Math.max(1, plan.againAtMs - clock.now().getTime())),
      )
  }

  /** The group as it is planned once a node has begun to drain, and what that waits for. Nothing is published. */
  drained(group: NodeGroup, nodeId: string): DrainedGroup {
    const input = this.#input(group, nodeId)
    const present = this.#options.cluster.nodesOf(group.id).find(({ id }) => id === nodeId)
    const goesOn = present?.scheduling === 'draining' && present.drainBegunAt !== null
    const judged = input.nodes.map((node) => ({
      ...node,
      ...this.#judge(group, node),
      drainBegun: node.id === nodeId ? goesOn : node.drainBegun === true,
    }))
    const held = heldBack(judged, () => true, input.nowMs)
    return {
      nodes: input.nodes,
      plan: planGroup(input),
      waitsFor: hasShards(group) ? (held.waitsFor.get(nodeId) ?? null) : null,
    }
  }

  close(): void {
    this.#unsubscribe()
    this.#begun.close()
    for (const timer of this.#timers.values()) timer.clear()
    this.#timers.clear()
  }

  /**
   * Plans the group, with the move of a shard that is due. A move waits until all other nodes know its consequences:
   * which node comes first in the shard, and where to forward packets of connections that stay behind.
   */
  #plan(group: NodeGroup): GroupPlan {
    const input = this.#input(group)
    // When one of them can announce, the group must be planned again.
    if (input.unready.size > 0) this.#waiting.add(group.id)
    const plan = this.#planDrains(group, input)
    const { rebalance } = group
    if (rebalance === undefined || !hasShards(group)) return plan
    // A move that failed for want of a shard goes on once a node reports it. One that is done is under way again when
    // the old owner goes on claiming the shard.
    if (input.nowMs < movesEndAtMs(rebalance)) this.#waiting.add(group.id)
    const step = moveUnderWay(stepsOf(group, this.#options))
    if (step === null) return plan
    const againAtMs = soonest(plan.againAtMs, input.nowMs + LOOK_AGAIN_MS)
    if (!this.#hasBegun(group, step, input, plan)) {
      this.#waiting.add(group.id)
      return { ...plan, againAtMs }
    }
    const { entries } = planGroup({ ...input, handOver: step })
    const entry = entries.get(step.fromNodeId)
    return {
      ...plan,
      againAtMs,
      entries: entry === undefined ? plan.entries : new Map([...plan.entries, [step.fromNodeId, entry]]),
    }
  }

  /** Whether it is stored that the move has begun. If it may begin now, that is stored. */
  #hasBegun(group: NodeGroup, step: MoveStep, { nodes, nowMs }: GroupPlanInput, plan: GroupPlan): boolean {
    const { askedAt = '', begun = [] } = group.rebalance ?? {}
    if (begun.includes(step.shard)) return true
    // A node that has not reported since the start may be the shard's owner.
    if (step.message !== null || nodes.some(({ id }) => this.#options.liveness.of(id) === 'new')) return false
    const others = nodes.filter(({ id, connection }) => id !== step.fromNodeId && connection === 'connected')
    if (!others.every((node) => this.#knows(plan, node)) && nowMs < Date.parse(askedAt) + KNOWN_WITHIN_MS) return false
    this.#begun.beginMove(group.id, askedAt, step.shard)
    return false
  }

  #knows({ entries }: GroupPlan, { id }: GroupNode): boolean {
    const entry = entries.get(id)
    return entry === undefined || this.#options.status.confirmedHash(id, 'group') === entryHash(entry)
  }

  /**
   * A drained node keeps its addresses until the others know where to forward packets of its connections, and until one
   * of them could announce them.
   */
  #planDrains(group: NodeGroup, input: GroupPlanInput): GroupPlan {
    const { nodes, nowMs } = input
    const plan = planGroup(input)
    const open = nodes.filter(
      ({ scheduling, drainBegun, drainedSince }) => scheduling === 'draining' && !drainBegun && drainedSince !== null,
    )
    if (!hasShards(group) || open.length === 0) return plan
    const judged = nodes.map((node) => ({ ...node, ...this.#judge(group, node) }))
    const held = heldBack(judged, (node) => this.#knows(plan, node), nowMs)
    // A drain that may begin waits until that is stored.
    for (const { id, drainedSince } of open)
      if (!held.nodeIds.has(id) && drainedSince !== null) this.#begun.beginDrain(group.id, id, drainedSince)
    this.#waiting.add(group.id)
    const meanwhile = planGroup({ ...input, heldBack: new Set(open.map(({ id }) => id)) })
    const problems = new Map(meanwhile.problems)
    for (const [id, awaited] of held.waitsFor) problems.set(id, [...(problems.get(id) ?? []), drainWaits(awaited)])
    return { ...meanwhile, problems, againAtMs: soonest(meanwhile.againAtMs, held.againAtMs) }
  }

  /** Whether a node can take over. Unknown (absent) if it has not reported since the start. */
  #judge(group: NodeGroup, { id }: GroupNode): Pick<GroupNode, 'canTakeOver'> {
    const { liveness, status } = this.#options
    return liveness.of(id) === 'new' ? {} : { canTakeOver: canTakeOver(group, status.node(id)) }
  }

  /** @returns whether the node has just reported that no client is left */
  #noteDeparture(nodeId: string): boolean {
    const { departure } = this.#options.status.node(nodeId)
    if (departure?.busyProxies !== 0) return false
    const drain = drainOf({ id: nodeId, drainedSince: departure.since })
    if (this.#departed.has(drain)) return false
    this.#departed.add(drain)
    return true
  }

  /** @param drainedId the node that is taken to have begun to drain. Null: none but those that have */
  #input(
    group: NodeGroup,
    drainedId: string | null = null,
  ): GroupPlanInput & Required<Pick<GroupPlanInput, 'unready'>> {
    const { view, clock } = this.#options
    const now = clock.now()
    const { askedAt = '', moves = [] } = group.rebalance ?? {}
    const leaves = Map.groupBy(moves, ({ fromNodeId }) => fromNodeId)
    const nodes = this.#nodesOf(group.id).map(
      (node): GroupNode => ({
        ...(node.id === drainedId ? drainedPart(this.#partOf(node), now) : this.#partOf(node)),
        lacksFabric: group.fabric !== undefined && this.#lacksFabric(node.id),
        movedSince: leaves.has(node.id) ? askedAt : null,
        movedShards: leaves.get(node.id)?.map(({ shard }) => shard) ?? [],
      }),
    )
    const unready = hasShards(group) ? unreadyOf(nodes.map((node) => ({ ...node, ...this.#judge(group, node) }))) : NONE
    return {
      group,
      nodes,
      unready,
      peers: view.list('bgpPeer'),
      advertisements: view.list('bgpAdvertisement'),
      nowMs: now.getTime(),
      watches: this.#peers.watches(group.id),
    }
  }

  #nodesOf(groupId: string): readonly Node[] {
    return this.#options.cluster.nodesOf(groupId).filter(({ id }) => !this.#arriving.has(id))
  }

  /** Not before its first report. */
  #lacksFabric(nodeId: string): boolean {
    const { features } = this.#options.status.node(nodeId)
    return features.length > 0 && !features.includes(FABRIC_OF_GROUP)
  }

  #partOf(node: Node): GroupNode {
    const { id, name, scheduling, schedulingSince, drainedSince, drainBegunAt } = node
    return {
      ...{ id, name, scheduling, schedulingSince, drainedSince },
      drainBegun: drainBegunAt !== null,
      fabricAddress: fabricAddressOf(node),
      connection: connectionOf(node, this.#options.liveness.of(id)),
      departed: this.#departed.has(drainOf(node)),
    }
  }
}

/** How often the progress of a shard's move is checked, in milliseconds. */
const LOOK_AGAIN_MS = 100

const NONE: ReadonlySet<string> = new Set()

/** The node after it was told to drain and the drain has begun. */
function drainedPart(node: GroupNode, now: Date): GroupNode {
  if (node.scheduling === 'draining') return { ...node, drainBegun: true }
  const since = now.toISOString()
  return { ...node, scheduling: 'draining', schedulingSince: since, drainedSince: since, drainBegun: true }
}

/** A key for one drain of a node: node id and time of the request. */
const drainOf = ({ id, drainedSince }: Pick<GroupNode, 'id' | 'drainedSince'>): string => `${id} ${drainedSince}`

const nodesNamed = (names: readonly string[]): string => names.map((name) => `node \`${name}\``).join(', ')

function drainWaits({ unready, unheard }: AwaitedNodes): Reason {
  const reasons = [
    ...(unready.length > 0 ? [`${nodesNamed(unready)} cannot announce its addresses yet`] : []),
    ...(unheard.length > 0 ? [`${nodesNamed(unheard)} has not reported since the control plane started`] : []),
  ]
  return { code: 'DrainWaits', message: `Its drain waits: ${reasons.join('; ')}.` }
}

const soonest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
