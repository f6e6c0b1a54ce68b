import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type LookedAtNode, type NodesReading, readNodes } from '../readings/nodes.ts'

const FINDINGS = {
  NodeAlone: {
    level: 'warning',
    what: 'one node has a ready agent',
    why: 'If it fails, nobody takes over its addresses.',
    fix: 'another node for DaemonSet `agent`: `agent.nodeSelector` of the chart',
  },
  PodsUnreached: {
    level: 'error',
    what: 'with return path node, a node has pods and no ready agent',
    why: "The agent of a pod's own node brings connections to it: those pods of Services get none.",
    fix: '`kubectl --namespace NAMESPACE get pods --output wide`; `agent.nodeSelector` and `agent.tolerations` of the chart',
  },
  PodPrefixMissing: {
    level: 'error',
    what: "a node has no `spec.podCIDRs`, and the connector's `network.podCidrs` names no prefix",
    why: 'Pods on it are no members: an endpoint must have an address of a pod.',
    fix: 'list all prefixes of pods: `podCidrs` of the chart',
  },
  PodsOutside: {
    level: 'error',
    what: 'pods have addresses outside the prefixes that the connector goes by',
    why: 'They are no members: an endpoint must have an address of a pod. Calico and Cilium may give addresses of their own.',
    fix: 'list all prefixes of pods: `podCidrs` of the chart',
  },
  GroupUnknown: {
    level: 'warning',
    what: "a node's label names a group that is not there",
    why: 'The label changes nothing: the node stays in its group.',
    fix: '`kubectl label node NODE spout.dev/node-group-`, or create the NodeGroup',
  },
  ClockDiffers: {
    level: 'error',
    what: "the clock of a node differs by more than 30 s from the API server's",
    why: 'Certificates and tokens count as not yet valid, or as expired: agents and pods there are refused.',
    fix: '`timedatectl set-ntp true` on the node',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

/** A certificate is issued a minute back, so that this much does no harm. */
const MOST_MS = 30_000

export function judgeNodes({ installed, nodes, outside, groups }: NodesReading): readonly Finding[] {
  if (installed === null) return []
  const { returnPath, podCidrs, hasAgents } = installed
  const carrying = nodes.filter(({ hasAgent }) => hasAgent)
  const [only] = carrying
  return [
    ...(hasAgents && carrying.length === 1 && only !== undefined ? [alone(only)] : []),
    ...nodes.flatMap((node) => [
      ...(returnPath === 'node' && hasAgents ? unreached(node) : []),
      ...(podCidrs.length === 0 ? withoutPrefix(node) : []),
      ...ofGroup(node, groups),
      ...ofClock(node),
    ]),
    ...outsidePrefixes(outside),
  ]
}

const alone = ({ name }: LookedAtNode): Finding => ({
  ...{ code: 'NodeAlone', subject: name, message: 'No other node has an agent that is ready.' },
  fix: 'let DaemonSet agent run on another node: agent.nodeSelector and agent.tolerations of the chart',
})

function unreached({ name, hasAgent, pods }: LookedAtNode): readonly Finding[] {
  if (hasAgent || pods === 0) return []
  const message = `It has ${pods === 1 ? '1 pod' : `${pods} pods`} and no agent that is ready.`
  const fix = `kubectl describe node ${name}; agent.nodeSelector and agent.tolerations of the chart`
  return [{ code: 'PodsUnreached', subject: name, message, fix }]
}

const PREFIXES = 'list all prefixes of pods: podCidrs of the chart, network.podCidrs of ConfigMap connector'

const withoutPrefix = ({ name, podCidrs }: LookedAtNode): readonly Finding[] =>
  podCidrs.length > 0
    ? []
    : [{ code: 'PodPrefixMissing', subject: name, message: 'It has no spec.podCIDRs.', fix: PREFIXES }]

function outsidePrefixes(outside: readonly string[]): readonly Finding[] {
  const [first] = outside
  if (first === undefined) return []
  const more = outside.length === 1 ? '' : `, nor are ${outside.length - 1} more`
  return [
    { code: 'PodsOutside', subject: null, message: `Pod ${first} is in no prefix of pods${more}.`, fix: PREFIXES },
  ]
}

function ofGroup({ name, group }: LookedAtNode, groups: readonly string[]): readonly Finding[] {
  // `default` is the group that every installation begins with, and needs no object.
  if (group === null || group === 'default' || groups.includes(group)) return []
  const message = `Its label spout.dev/node-group names ${group}, and there is no such NodeGroup.`
  return [{ code: 'GroupUnknown', subject: name, message, fix: `kubectl label node ${name} spout.dev/node-group-` }]
}

function ofClock({ name, aheadMs }: LookedAtNode): readonly Finding[] {
  if (aheadMs === null || Math.abs(aheadMs) <= MOST_MS) return []
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const message = `Its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the API server's.`
  return [{ code: 'ClockDiffers', subject: name, message, fix: 'on the node: timedatectl set-ntp true' }]
}

export const nodes = clusterCheckOf({
  name: 'nodes',
  catalogue: FINDINGS,
  read: readNodes,
  judge: judgeNodes,
  right: ({ installed, nodes: all }) =>
    installed === null
      ? 'No program of ours runs here.'
      : `${all.filter(({ hasAgent }) => hasAgent).length} of ${all.length} have an agent that is ready.`,
})
