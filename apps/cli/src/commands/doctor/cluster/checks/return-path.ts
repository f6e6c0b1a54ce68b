import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type ReturnPathReading, readReturnPath } from '../readings/return-path.ts'

const FINDINGS = {
  SourcesChecked: {
    level: 'warning',
    what: "with return path node, nodes are machines of a cloud that drops packets with another's source",
    why: "The node of a pod answers with the Service's address as source. Dropped, no client gets an answer from pods of other nodes.",
    fix: 'AWS: `aws ec2 modify-instance-attribute --no-source-dest-check`; OpenStack: `openstack port set --allowed-address`; Azure: IP forwarding of the network interface; Google Cloud: `canIpForward`',
  },
  SourcesMayBeChecked: {
    level: 'notice',
    what: 'with return path node, routers and switches between nodes and clients must let each node send with the addresses of Services',
    why: 'uRPF (strict), IP source guard and private VLANs drop such answers, and nobody here can see it.',
    fix: "on routers of the nodes' segment: loose uRPF or none; or return path `snat`",
  },
  PrefixesNotOfNodes: {
    level: 'error',
    what: "with return path node, the connector's `network.podCidrs` is set",
    why: "It says that pods' addresses are not of their node's `spec.podCIDRs`, by which a packet finds the node of its pod.",
    fix: '`podCidrs: []`, and the address management of Kubernetes itself; or return path `snat`',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

/** What lets a machine of a cloud send with an address that is not its own. */
const ALLOWING: Readonly<Record<string, string>> = {
  aws: 'aws ec2 modify-instance-attribute --instance-id ID --no-source-dest-check, for each node',
  azure: 'az network nic update --ids ID --ip-forwarding true, for each node',
  gce: 'canIpForward of each node, which is set when the machine is made',
  openstack:
    "openstack port set PORT --allowed-address ip-address=PREFIX, for each node's port and the prefix of the pools",
}

export function judgeReturnPath({ settings, clouds }: ReturnPathReading): readonly Finding[] {
  if (settings?.returnPath !== 'node') return []
  const known = clouds.filter((cloud) => cloud in ALLOWING)
  return [
    ...(settings.podCidrs.length === 0 ? [] : [prefixes(settings.podCidrs)]),
    ...known.map((cloud): Finding => {
      const message = `Nodes are machines of ${cloud}, which drops answers with the address of a Service as source unless it is told.`
      return { code: 'SourcesChecked', subject: cloud, message, fix: ALLOWING[cloud] ?? '' }
    }),
    ...(known.length > 0 ? [] : [MAY_BE_CHECKED]),
  ]
}

const prefixes = (podCidrs: readonly string[]): Finding => ({
  ...{ code: 'PrefixesNotOfNodes', subject: null, message: `network.podCidrs is ${podCidrs.join(', ')}.` },
  fix: 'podCidrs: [], where nodes have spec.podCIDRs; or another return path: docs/networks.md, "Return paths"',
})

const MAY_BE_CHECKED: Finding = {
  ...{ code: 'SourcesMayBeChecked', subject: null },
  message: 'Each node answers clients with the addresses of Services as source, also those that it does not have.',
  fix: 'on routers of the nodes\' segment: no strict uRPF towards them; or return path snat: docs/networks.md, "Return paths"',
}

export const returnPath = clusterCheckOf({
  name: 'return path',
  catalogue: FINDINGS,
  read: readReturnPath,
  judge: judgeReturnPath,
  right: ({ settings }) =>
    settings === null
      ? 'No control plane runs here.'
      : `With ${settings.returnPath}, answers come back through the node that has the address.`,
})
