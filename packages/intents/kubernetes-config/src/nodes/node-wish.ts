import { EXCLUDE_NODE_LABEL, type Node } from '@spout/kube'
import type { ClusterWish } from '@spout/model'

/** What of a Kubernetes node takes it out of use as a load-balancer node. */
export interface NodePolicy {
  /** What `kubectl cordon` does: nothing, keep new load balancers away, or move addresses away too. */
  readonly cordon: 'ignore' | 'cordon' | 'drain'
  /** Types of conditions that drain a node: `Ready` unless it is True, others while they are True. */
  readonly conditions: readonly string[]
  /** Keys of taints that drain a node, whatever their effect. */
  readonly taints: readonly string[]
  /** A node takes part again once its conditions have been good for this long. */
  readonly returnSeconds: number
}

/** The other nodes, as far as they matter for one. */
export interface Around {
  /** Whether more than half of the nodes have conditions that drain a node. */
  readonly areMostUnwell: boolean
  /** Whether all nodes have the exclusion label. */
  readonly areAllExcluded: boolean
  readonly nowMs: number
}

export interface Decision {
  readonly wish: ClusterWish | null
  /** When time alone changes it, in milliseconds since 1970; null: never. */
  readonly againAtMs: number | null
}

/** The conditions that say the node is unwell, such as `condition Ready is Unknown`. */
export function illnessesOf({ status }: Node, { conditions }: NodePolicy): readonly string[] {
  return conditions.flatMap((wanted) => {
    const found = status?.conditions?.find(({ type }) => type === wanted)
    return found === undefined || isGood(found) ? [] : [`condition ${found.type} is ${found.status}`]
  })
}

export const isExcluded = ({ metadata }: Node): boolean => Object.hasOwn(metadata.labels ?? {}, EXCLUDE_NODE_LABEL)

/**
 * What the cluster wants of a load-balancer node.
 *
 * What people and the autoscaler say counts at once: the exclusion label, a taint, a deletion, and as the policy has it a
 * cordon. A label that all nodes have excludes none: kubeadm gives it to control-plane nodes, and a cluster may have no
 * others. Conditions drain a node too, unless most nodes are unwell together: then rather the cluster's view of them is
 * wrong, and nothing moves because of conditions. When they end, the node waits a while, so that one whose conditions come
 * and go moves its addresses once.
 * @param present what the cluster wanted last, by the control plane
 */
export function wishOf(
  node: Node,
  present: ClusterWish | null,
  policy: NodePolicy,
  { areMostUnwell, areAllExcluded, nowMs }: Around,
): Decision {
  const said = saidBySomebody(node, policy, areAllExcluded)
  if (said !== null) return { wish: { scheduling: 'draining', reason: said }, againAtMs: null }
  const isOut = present?.scheduling === 'draining'
  const [illness] = illnessesOf(node, policy)
  if (illness !== undefined && (isOut || !areMostUnwell))
    return { wish: { scheduling: 'draining', reason: illness }, againAtMs: null }
  const wellAtMs = isOut ? wellSince(node, policy, nowMs) + 1000 * policy.returnSeconds : nowMs
  if (wellAtMs > nowMs) return { wish: present, againAtMs: wellAtMs }
  const isCordoned = policy.cordon === 'cordon' && node.spec?.unschedulable === true
  return { wish: isCordoned ? { scheduling: 'cordoned', reason: 'it is unschedulable' } : null, againAtMs: null }
}

function saidBySomebody(node: Node, policy: NodePolicy, areAllExcluded: boolean): string | null {
  const { metadata, spec } = node
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted'
  if (isExcluded(node) && !areAllExcluded) return `label ${EXCLUDE_NODE_LABEL}`
  const taint = spec?.taints?.find(({ key }) => policy.taints.includes(key))
  if (taint !== undefined) return `taint ${taint.key}`
  return policy.cordon === 'drain' && spec?.unschedulable === true ? 'it is unschedulable' : null
}

const isGood = ({ type, status }: { readonly type: string; readonly status: string }): boolean =>
  type === 'Ready' ? status === 'True' : status !== 'True'

/** When the last of its conditions became good. The node's clock may be ahead: such a time counts only if it is near. */
function wellSince({ status }: Node, { conditions, returnSeconds }: NodePolicy, nowMs: number): number {
  const times = (status?.conditions ?? [])
    .filter(({ type }) => conditions.includes(type))
    .map(({ lastTransitionTime }) => Date.parse(lastTransitionTime ?? ''))
    .filter((at) => at <= nowMs + 1000 * returnSeconds)
  return Math.max(0, ...times)
}
