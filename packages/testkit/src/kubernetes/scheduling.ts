import {
  conditionOf,
  type Node,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  type Pod,
  type Taint,
} from './objects.ts'

const KEEPS_PODS_AWAY: readonly string[] = ['NoSchedule', 'NoExecute']

/**
 * Nodes that a pod may be bound to: ready, without a taint that it does not tolerate, and allowed by its node selector
 * and required node affinity. Everything else, such as resources, is ignored.
 */
export function nodesFor(pod: Pod, nodes: readonly Node[]): readonly Node[] {
  return nodes.filter((node) => {
    const unschedulable: Taint[] = node.spec?.unschedulable
      ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]
      : []
    const taints = [...(node.spec?.taints ?? []), ...unschedulable]
    return (
      conditionOf(node, 'Ready')?.status === 'True' &&
      taints.every((taint) => !KEEPS_PODS_AWAY.includes(taint.effect) || isTolerated(pod, taint)) &&
      isSelected(pod, node)
    )
  })
}

/** The node to bind a pod to: the next by name after the last one used. Null when none is possible. */
export function chooseNode(pod: Pod, nodes: readonly Node[], last: string): string | null {
  const names = nodesFor(pod, nodes)
    .map((node) => node.metadata.name)
    .toSorted()
  return names.find((name) => name > last) ?? names[0] ?? null
}

function isTolerated(pod: Pod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (key === undefined ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')) &&
      (effect === undefined || effect === '' || effect === taint.effect),
  )
}

function isSelected(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return (
    Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, node, labels)))
  )
}

function matchesTerm(term: NodeSelectorTerm, node: Node, labels: Readonly<Record<string, string>>): boolean {
  const fields: Readonly<Record<string, string>> = { 'metadata.name': node.metadata.name }
  return (
    (term.matchExpressions ?? []).every((requirement) => isMet(requirement, labels)) &&
    (term.matchFields ?? []).every((requirement) => isMet(requirement, fields))
  )
}

function isMet({ key, operator, values = [] }: NodeSelectorRequirement, of: Readonly<Record<string, string>>): boolean {
  const value = of[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
