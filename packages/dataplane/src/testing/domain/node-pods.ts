import { run } from '../../domain/run.ts'
import type { Arrangement } from '../arrangement.ts'

/** Pods of a cluster whose nodes are the arrangement's: each behind its node, reached by the node's own routes. */
export const PODS = {
  pod1: { node: 'node1', other: 'node2', number: 1 },
  pod2: { node: 'node2', other: 'node1', number: 2 },
} as const
type PodName = keyof typeof PODS

export const podAddress = (pod: PodName) => {
  const { number } = PODS[pod]
  return { 4: `10.244.${number}.11`, 6: `fd44:${number}::11` } as const
}

const NODE_LAST = { node1: 1, node2: 2 } as const

/** Makes the pods with their cables and the routes of both nodes to them. They go with the arrangement. */
export async function joinPods(lab: Arrangement): Promise<void> {
  for (const node of ['node1', 'node2'])
    await lab.run(node, 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1')
  for (const [pod, { node, other, number }] of Object.entries(PODS)) {
    await run('ip', ['netns', 'add', lab.namespace(pod)])
    await lab.run(pod, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.dad_transmits=0')
    const atNode = [
      `link add name pods type veth peer name eth0 netns ${lab.namespace(pod)}`,
      'link set dev pods up',
      `address add 10.244.${number}.1/24 dev pods`,
      `address add fd44:${number}::1/64 dev pods nodad`,
    ]
    await run('ip', ['-n', lab.namespace(node), '-batch', '-'], atNode.join('\n'))
    const atOther = [
      `route add 10.244.${number}.0/24 via 10.9.0.${NODE_LAST[node]}`,
      `route add fd44:${number}::/64 via fd09::${NODE_LAST[node]}`,
    ]
    await run('ip', ['-n', lab.namespace(other), '-batch', '-'], atOther.join('\n'))
    const atPod = [
      'link set dev lo up',
      'link set dev eth0 up',
      `address add 10.244.${number}.11/24 dev eth0`,
      `address add fd44:${number}::11/64 dev eth0 nodad`,
      `route add 0.0.0.0/0 via 10.244.${number}.1`,
      `route add ::/0 via fd44:${number}::1`,
    ]
    await run('ip', ['-n', lab.namespace(pod), '-batch', '-'], atPod.join('\n'))
    await lab.adopt(pod, lab.namespace(pod)).serve(8080)
  }
}
