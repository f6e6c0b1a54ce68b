import { isDeepStrictEqual } from 'node:util'
import { Refused, type Sessions } from '@spout/client/native-api'
import {
  type CustomObjects,
  type EventRecorder,
  eventsOfKind,
  NODES,
  type Node,
  type ObjectEvent,
  Reflector,
  type Transport,
} from '@spout/kube'
import type { ClusterWish, NodeStatus, Node as SpoutNode } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import type { NodeSelections } from '../nodes/node-selections.ts'
import { illnessesOf, isExcluded, type NodePolicy, wishOf } from '../nodes/node-wish.ts'
import type { Group, GroupedNode } from '../nodes/planned-moves.ts'
import { follow } from '../spout/follow.ts'
import { NativeObjects } from '../spout/native-objects.ts'
import { GroupMoves, isLeaving, leaving } from './group-moves.ts'

export interface NodeSchedulingOptions {
  readonly transport: Transport
  readonly sessions: Sessions
  readonly policy: NodePolicy
  /** NodeGroup objects, whose `nodeSelector` says which nodes they have. */
  readonly groups: Pick<CustomObjects, 'all' | 'reflector'>
  readonly selections: NodeSelections
  /** Says on a Node what became of its group. */
  readonly events: EventRecorder
  readonly clock: Clock
  readonly log: Logger
}

/** What a decision needs of a node of the control plane. */
type Known = Pick<SpoutNode, 'id' | 'name' | 'nodeGroupId' | 'scheduling' | 'clusterScheduling'> & {
  readonly status: Pick<NodeStatus, 'connection'>
}

const AGAIN_MS = 50
/** How often a node that is to leave its group is looked at. */
const LOOK_AGAIN_MS = 500
/** All nodes are decided together, because one decision depends on how the others are. */
const ALL = 'nodes'

/**
 * Tells the control plane what the cluster wants of its load-balancer nodes, which have the names of Kubernetes nodes:
 * which take part, and in which groups. A node that the cluster does not have is left as it is. What an administrator
 * asks for is stored beside it, and stays.
 */
export class NodeScheduling {
  readonly name = 'node-scheduling'
  readonly #options: NodeSchedulingOptions
  readonly #api: NativeObjects
  readonly #cluster: Reflector<Node, Node>
  readonly #known = new Map<string, Known>()
  readonly #moves: GroupMoves
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  #seen: Set<string> | null = null
  #listed = false
  #wereMostUnwell = false
  #following: Promise<void> | null = null

  constructor(options: NodeSchedulingOptions) {
    this.#options = options
    const { transport, policy, clock, log } = options
    this.#api = new NativeObjects(options.sessions)
    const tell = (node: string, event: ObjectEvent) => this.#tellOn(node, event)
    this.#moves = new GroupMoves({ ...options, api: this.#api, tell })
    this.#cluster = new Reflector({ transport, clock, log, resource: NODES, trim: (node) => trimmed(node, policy) })
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({ name: this.name, queue: this.#queue, log, reconcile: () => this.#look() })
  }

  get ready(): boolean {
    return this.#listed && this.#cluster.hasSynced && this.#options.groups.reflector.hasSynced
  }

  start(): void {
    const { clock, log } = this.#options
    this.#cluster.onChange(() => this.#queue.add(ALL))
    this.#cluster.start()
    this.#options.groups.reflector.onChange(() => this.#queue.add(ALL))
    this.#following = follow(
      this.#api,
      '/nodes',
      {
        listing: () => {
          this.#seen = new Set()
        },
        line: ({ type, object }) => {
          if (type === 'DELETED') this.#known.delete(object.id)
          else this.#note(object as unknown as Known)
        },
        listed: () => {
          for (const id of [...this.#known.keys()]) if (this.#seen?.has(id) === false) this.#known.delete(id)
          this.#seen = null
          this.#listed = true
          this.#queue.add(ALL)
        },
      },
      { clock, log, signal: this.#stop.signal },
    )
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#reconciler.stop()
    await this.#cluster.close()
    await this.#following
  }

  /** Most lines of the watch only say that a node's report has changed. */
  #note({ id, name, nodeGroupId, scheduling, clusterScheduling, status: { connection } }: Known): void {
    this.#seen?.add(id)
    const wish = clusterScheduling !== undefined && { clusterScheduling }
    const known: Known = { id, name, nodeGroupId, scheduling, ...wish, status: { connection } }
    if (isDeepStrictEqual(this.#known.get(id), known)) return
    this.#known.set(id, known)
    this.#queue.add(ALL)
  }

  async #look(): Promise<Outcome> {
    if (!this.ready) return retryAfter(AGAIN_MS)
    try {
      return await this.#decide()
    } catch (error) {
      return failed((error as Error).message)
    }
  }

  async #decide(): Promise<Outcome> {
    const { policy, clock } = this.#options
    const nowMs = clock.now().getTime()
    const pairs = [...this.#known.values()].flatMap((known) => {
      const node = this.#cluster.get(known.name)
      return node === undefined ? [] : [{ known, node }]
    })
    const areAllExcluded = pairs.every(({ node }) => isExcluded(node))
    const unwell = pairs.filter(({ node }) => illnessesOf(node, policy).length > 0)
    const areMostUnwell = 2 * unwell.length > pairs.length
    this.#tellIfMostAreUnwell(areMostUnwell, unwell.length, pairs.length)
    const grouped = new Map(pairs.map((pair) => [pair.known.id, groupedNode(pair)]))
    const targets = await this.#moves.targets([...grouped.values()])
    const failures: string[] = []
    const times: number[] = []
    for (const { known, node } of pairs) {
      const present = wishIn(known)
      const decision = wishOf(node, present, policy, { areMostUnwell, areAllExcluded, nowMs })
      if (decision.againAtMs !== null) times.push(decision.againAtMs)
      const target = targets.get(known.id)
      const wish = target === undefined ? decision.wish : leaving(target, decision.wish)
      if (target !== undefined) times.push(nowMs + LOOK_AGAIN_MS)
      const failure = isDeepStrictEqual(wish, present)
        ? await this.#move(grouped.get(known.id), target)
        : await this.#tell(known, wish)
      if (failure !== null) failures.push(`${known.name}: ${failure}`)
    }
    if (failures.length > 0) return failed(failures.join('; '))
    return times.length === 0 ? done : retryAfter(Math.max(AGAIN_MS, Math.min(...times) - nowMs))
  }

  /** Moves a node that drains if it can leave its group now. @returns why it failed; null when it did not fail */
  async #move(node: GroupedNode | undefined, target: Group | undefined): Promise<string | null> {
    if (node === undefined || target === undefined) return null
    try {
      const moved = await this.#moves.move(node, target)
      if (moved !== null) this.#note(moved as unknown as Known)
    } catch (error) {
      if (!(error instanceof Refused && error.code === 'NotFound')) return (error as Error).message
    }
    return null
  }

  /** @returns why it failed; null when the control plane has it, or no longer has the node */
  async #tell({ id, name }: Known, wish: ClusterWish | null): Promise<string | null> {
    const { log } = this.#options
    try {
      this.#note(await this.#api.call<Known>('PATCH', `/nodes/${id}`, { clusterScheduling: wish }))
    } catch (error) {
      if (error instanceof Refused && error.code === 'NotFound') return null
      return (error as Error).message
    }
    if (wish === null) log.info({ event: 'node-returns', node: name }, 'the cluster wants the node in use again')
    else log.info({ event: 'node-withdrawn', node: name, ...wish }, 'the cluster wants the node out of use')
    return null
  }

  #tellOn(name: string, event: ObjectEvent): void {
    const node = this.#cluster.get(name)
    if (node !== undefined) eventsOfKind(this.#options.events, NODES)(node, event)
  }

  #tellIfMostAreUnwell(areMostUnwell: boolean, unwell: number, all: number): void {
    if (areMostUnwell && !this.#wereMostUnwell)
      this.#options.log.warn(
        { event: 'most-nodes-unwell', unwell, all },
        'most nodes have bad conditions at once: no further node is drained because of conditions',
      )
    this.#wereMostUnwell = areMostUnwell
  }
}

const groupedNode = ({ known, node }: { readonly known: Known; readonly node: Node }): GroupedNode => ({
  id: known.id,
  name: known.name,
  labels: node.metadata.labels ?? {},
  nodeGroupId: known.nodeGroupId,
  isConnected: known.status.connection === 'connected',
  isLeaving: isLeaving(wishIn(known)),
})

function wishIn({ clusterScheduling }: Known): ClusterWish | null {
  if (clusterScheduling === undefined) return null
  const { scheduling, reason } = clusterScheduling
  return { scheduling, reason }
}

/** A node, reduced to what decides. It does not change with heartbeats. */
function trimmed(node: Node, { conditions, taints }: NodePolicy): Node {
  const { metadata, spec, status } = node
  const { name, uid, deletionTimestamp } = metadata
  return {
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      labels: metadata.labels ?? {},
    },
    spec: {
      unschedulable: spec?.unschedulable === true,
      taints: (spec?.taints ?? [])
        .filter(({ key }) => taints.includes(key))
        .map(({ key, effect }) => ({ key, effect })),
    },
    status: {
      conditions: (status?.conditions ?? [])
        .filter(({ type }) => conditions.includes(type))
        .map(({ type, status: is, lastTransitionTime }) => ({
          ...{ type, status: is },
          ...(lastTransitionTime !== undefined && { lastTransitionTime }),
        })),
    },
  }
}
