import { GROUP_LABEL, type NodeGroupSpec } from '@spout/custom-resources'
import type { CustomObjects, ObjectEvent } from '@spout/kube'
import type { ClusterWish } from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import type { SelectingGroup } from '../nodes/chosen-group.ts'
import { hasLeft, type LeavingNode } from '../nodes/has-left.ts'
import type { NodeSelections } from '../nodes/node-selections.ts'
import { type Group, type GroupedNode, planMoves } from '../nodes/planned-moves.ts'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'

export interface GroupMovesOptions {
  readonly api: NativeObjects
  /** The NodeGroup objects, whose `nodeSelector` says which nodes they have. */
  readonly groups: Pick<CustomObjects, 'all'>
  readonly selections: NodeSelections
  /** Writes an event on the Node of this name. */
  readonly tell: (node: string, event: ObjectEvent) => void
  readonly clock: Clock
  readonly log: Logger
}

const MOVE = 'it moves to node group '

/** The wish of a node that moves: it drains. If it drains for another reason as well, that one is shown. */
export const leaving = ({ name }: Group, wish: ClusterWish | null): ClusterWish =>
  wish?.scheduling === 'draining' ? wish : { scheduling: 'draining', reason: `${MOVE}${name}` }

export const isLeaving = (wish: ClusterWish | null): boolean => wish?.reason.startsWith(MOVE) ?? false

/** Moves nodes into the groups that their labels ask for, once others have their addresses. */
export class GroupMoves {
  readonly #options: GroupMovesOptions
  /** By node id: the drain that was seen first at this time. */
  readonly #watched = new Map<string, { readonly drainedSince: string | null; readonly sinceMs: number }>()
  /** By node name: why it stays, as was told last. */
  #told: ReadonlyMap<string, string> = new Map()

  constructor(options: GroupMovesOptions) {
    this.#options = options
  }

  /** The groups that nodes move to next, by node id. */
  async targets(nodes: readonly GroupedNode[]): Promise<ReadonlyMap<string, Group>> {
    const { api, selections } = this.#options
    const selecting = this.#selecting()
    const isAsked = selecting.length > 0 || nodes.some(({ labels }) => Object.hasOwn(labels, GROUP_LABEL))
    const plan = planMoves(isAsked ? nodes : [], selecting, isAsked ? await api.list('/node-groups') : [])
    selections.set(plan.selections)
    this.#tellOfMissing(plan.unknown)
    for (const id of this.#watched.keys()) if (!plan.targets.has(id)) this.#watched.delete(id)
    return plan.targets
  }

  /** Moves the node if it can leave its group now. @returns the moved node; null: it cannot leave yet */
  async move({ id, name }: GroupedNode, { id: nodeGroupId, name: group }: Group): Promise<ApiObject | null> {
    const { api, tell, clock, log } = this.#options
    const node = await api.call<ApiObject & LeavingNode>('GET', `/nodes/${id}`)
    const { items: vips } = await api.call<{ readonly items: readonly unknown[] }>('GET', `/vips?node=${id}`)
    const { drainedSince } = node
    const nowMs = clock.now().getTime()
    const before = this.#watched.get(id)
    const sinceMs = before?.drainedSince === drainedSince ? before.sinceMs : nowMs
    if (node.scheduling === 'draining') this.#watched.set(id, { drainedSince, sinceMs })
    if (!hasLeft(node, vips.length, nowMs - sinceMs)) return null
    const moved = await api.call<ApiObject>('PATCH', `/nodes/${id}`, { nodeGroupId })
    log.info({ event: 'node-moved', node: name, group }, 'the node is in another group now')
    tell(name, { type: 'Normal', reason: 'NodeMoved', action: 'Move', note: `It is in node group ${group} now.` })
    return moved
  }

  /** A group that is being deleted selects nothing any more, so its nodes leave it. */
  #selecting(): readonly SelectingGroup[] {
    return [...this.#options.groups.all()].flatMap(({ metadata: { name, deletionTimestamp }, spec }) => {
      const { nodeSelector } = spec as NodeGroupSpec
      if (nodeSelector === undefined) return []
      return [{ name, nodeSelector: deletionTimestamp === undefined ? nodeSelector : NO_NODE }]
    })
  }

  /** On the Node, because whoever labelled it looks there. */
  #tellOfMissing(unknown: ReadonlyMap<string, string>): void {
    const { tell, log } = this.#options
    for (const [node, note] of unknown) {
      if (this.#told.get(node) === note) continue
      log.warn({ event: 'node-group-missing', node, reason: note }, 'a node belongs to a group that does not exist')
      tell(node, { type: 'Warning', reason: 'NodeGroupMissing', action: 'Move', note })
    }
    this.#told = unknown
  }
}

/** `In` without values. */
const NO_NODE: SelectingGroup['nodeSelector'] = { matchExpressions: [{ key: GROUP_LABEL, operator: 'In', values: [] }] }
