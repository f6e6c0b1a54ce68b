import { GROUP_LABEL } from '@spout/custom-resources'
import { LEASES, NODES, type Node } from '@spout/kube'
import { cidrContains, parseCidr, parseIp } from '@spout/net'
import { readInstallation } from '../installation.ts'
import { changedAt, PODS, type Pod } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'
import { isReady } from '../pod-words.ts'
import { objectsOf } from '../spout-objects.ts'

export interface LookedAtNode {
  readonly name: string
  readonly hasAgent: boolean
  /** Pods on it that have addresses of their own. */
  readonly pods: number
  readonly podCidrs: readonly string[]
  /** The node's clock less the API server's, when the node last renewed its lease; null if it has none. */
  readonly aheadMs: number | null
  /** The group that a label names; null without the label. */
  readonly group: string | null
}

export interface NodesReading {
  /** Null without a program of ours. */
  readonly installed: {
    readonly returnPath: string
    readonly podCidrs: readonly string[]
    readonly hasAgents: boolean
  } | null
  readonly nodes: readonly LookedAtNode[]
  /** `namespace/name address` of pods whose address is in none of the prefixes that the connector goes by. */
  readonly outside: readonly string[]
  readonly groups: readonly string[]
}

export async function readNodes(place: ClusterPlace): Promise<NodesReading> {
  const installation = await readInstallation(place)
  if (installation === null) return { installed: null, nodes: [], outside: [], groups: [] }
  const { namespace, settings, workloads } = installation
  const nodes = await place.list(NODES)
  const pods = (await place.list(PODS)).filter(({ spec }) => spec.hostNetwork !== true)
  const agents = await place.list(PODS, { namespace, labelSelector: 'app.kubernetes.io/component=agent' })
  const leases = await place.list(LEASES, { namespace: 'kube-node-lease' })
  const groups = await objectsOf(place, 'NodeGroup')
  const prefixes = settings.podCidrs.length > 0 ? settings.podCidrs : nodes.flatMap(podCidrsOf)
  return {
    installed: { ...settings, hasAgents: workloads.has('agent') },
    nodes: nodes.map((node) => {
      const { name, labels } = node.metadata
      const lease = leases.find(({ metadata }) => metadata.name === name)
      const renewed = lease?.spec?.renewTime
      const taken = lease === undefined ? null : changedAt(lease)
      return {
        name,
        hasAgent: agents.some((agent) => agent.spec.nodeName === name && isReady(agent)),
        pods: pods.filter(({ spec }) => spec.nodeName === name).length,
        podCidrs: podCidrsOf(node),
        aheadMs: renewed === undefined || taken === null ? null : Date.parse(renewed) - taken,
        group: labels?.[GROUP_LABEL] ?? null,
      }
    }),
    outside: prefixes.length === 0 ? [] : pods.flatMap((pod) => outsideOf(pod, prefixes)),
    groups: groups.map(({ metadata }) => metadata.name),
  }
}

const podCidrsOf = ({ spec }: Node): readonly string[] =>
  spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR])

const outsideOf = ({ metadata, status }: Pod, prefixes: readonly string[]): readonly string[] =>
  (status?.podIPs ?? [])
    .filter(({ ip }) => !prefixes.some((prefix) => cidrContains(parseCidr(prefix, 'clear'), parseIp(ip))))
    .map(({ ip }) => `${metadata.namespace}/${metadata.name} ${ip}`)
