import { isDeepStrictEqual } from 'node:util'
import { Refused, type Sessions } from '@spout/client/native-api'
import { EXCLUDE_NODE_LABEL, NODES, type Node, Reflector, type Transport } from '@spout/kube'
import type { ClusterWish, Node as SpoutNode } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { illnessesOf, isExcluded, type NodePolicy, wishOf } from '../nodes/node-wish.ts'
import { follow } from '../spout/follow.ts'
import { NativeObjects } from '../spout/native-objects.ts'

export interface NodeSchedulingOptions {
  readonly transport: Transport
  readonly sessions: Sessions
  readonly policy: NodePolicy
  readonly clock: Clock
  readonly log: Logger
}

type Known = Pick<SpoutNode, 'id' | 'name' | 'clusterScheduling'>

const AGAIN_MS = 50
/** All nodes are decided together, because one decision depends on how the others are. */
const ALL = 'nodes'

/**
 * Tells the control plane what the cluster wants of its load-balancer nodes, which have the names of Kubernetes nodes. A
 * node that the cluster does not have is left as it is. What an administrator asks for is stored beside it, and stays.
 */
export class NodeScheduling {
  readonly name = 'node-scheduling'
  readonly #options: NodeSchedulingOptions
  readonly #api: NativeObjects
  readonly #cluster: Reflector<Node, Node>
  readonly #known = new Map<string, Known>()
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
    this.#cluster = new Reflector({ transport, clock, log, resource: NODES, trim: (node) => trimmed(node, policy) })
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({ name: this.name, queue: this.#queue, log, reconcile: () => this.#look() })
  }

  get ready(): boolean {
    return this.#listed && this.#cluster.hasSynced
  }

  start(): void {
    const { clock, log } = this.#options
    this.#cluster.onChange(() => this.#queue.add(ALL))
    this.#cluster.start()
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
  #note({ id, name, clusterScheduling }: Known): void {
    this.#seen?.add(id)
    const known: Known = { id, name, ...(clusterScheduling !== undefined && { clusterScheduling }) }
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
    const failures: string[] = []
    const times: number[] = []
    for (const { known, node } of pairs) {
      const present = wishIn(known)
      const { wish, againAtMs } = wishOf(node, present, policy, { areMostUnwell, areAllExcluded, nowMs })
      if (againAtMs !== null) times.push(againAtMs)
      if (isDeepStrictEqual(wish, present)) continue
      const failure = await this.#tell(known, wish)
      if (failure !== null) failures.push(`${known.name}: ${failure}`)
    }
    if (failures.length > 0) return failed(failures.join('; '))
    return times.length === 0 ? done : retryAfter(Math.max(AGAIN_MS, Math.min(...times) - nowMs))
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

  #tellIfMostAreUnwell(areMostUnwell: boolean, unwell: number, all: number): void {
    if (areMostUnwell && !this.#wereMostUnwell)
      this.#options.log.warn(
        { event: 'most-nodes-unwell', unwell, all },
        'most nodes have bad conditions at once: no further node is drained because of conditions',
      )
    this.#wereMostUnwell = areMostUnwell
  }
}

function wishIn({ clusterScheduling }: Known): ClusterWish | null {
  if (clusterScheduling === undefined) return null
  const { scheduling, reason } = clusterScheduling
  return { scheduling, reason }
}

/** A node, reduced to what decides. It does not change with heartbeats. */
function trimmed(node: Node, { conditions, taints }: NodePolicy): Node {
  const { metadata, spec, status } = node
  const { name, deletionTimestamp } = metadata
  return {
    metadata: {
      name,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      labels: isExcluded(node) ? { [EXCLUDE_NODE_LABEL]: '' } : {},
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
