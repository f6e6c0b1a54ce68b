import { type Lab, memberAddress, must, pidsIn, programOf } from '@spout/testkit'
import type { PairNode } from './pair.ts'

/** A hand-made node for comparison: DNAT to two members, with its own source address. */
export interface PeerNodeSpec {
  readonly name: string
  /** Last number of its address on the fabric (198.51.100.N) and on tenant A's segment (10.0.0.200+N). */
  readonly index: number
  readonly vips: readonly string[]
  /** Programs that announce addresses. */
  readonly daemons: readonly string[]
}

export const peerAddress = (index: number): string => `198.51.100.${index}`

/** Connects it to the fabric and tenant A's segment. The lab removes it. */
export async function addPeerNode(lab: Lab, { name, index, vips, daemons }: PeerNodeSpec): Promise<PairNode> {
  const namespace = lab.namespace(name)
  const ports = [`${name}-f`, `${name}-s`]
  await must(['ip', 'netns', 'add', namespace])
  await must(['ip', 'netns', 'exec', namespace, 'sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  await batch(lab.namespace('fabric'), [
    `link add name ${ports[0]} type veth peer name fab0 netns ${namespace}`,
    `link add name ${ports[1]} type veth peer name seg0 netns ${namespace}`,
    `link set dev ${ports[0]} master br-fabric`,
    `link set dev ${ports[1]} master br-tenant-a`,
    ...ports.map((port) => `link set dev ${port} up`),
  ])
  await batch(namespace, [
    'link set dev lo up',
    `address add ${peerAddress(index)}/24 dev fab0`,
    `address add 10.0.0.${200 + index}/24 dev seg0`,
    'link set dev fab0 up',
    'link set dev seg0 up',
    'route replace default via 198.51.100.1',
  ])
  const rules = [
    'table ip lb {',
    '  set vips {',
    '    type ipv4_addr',
    `    elements = { ${vips.join(', ')} }`,
    '  }',
    '  chain pre {',
    '    type nat hook prerouting priority dstnat;',
    `    ip daddr @vips meta l4proto { tcp, udp } dnat to jhash ip saddr . th sport mod 2 seed 5 map { 0 : ${memberAddress(0)}, 1 : ${memberAddress(1)} }`,
    '  }',
    '  chain post {',
    '    type nat hook postrouting priority srcnat;',
    '    oifname "seg0" masquerade',
    '  }',
    '}',
  ]
  await must(['ip', 'netns', 'exec', namespace, 'nft', '-f', '-'], { input: `${rules.join('\n')}\n` })
  const processes = () => pidsIn(namespace)
  const announcing = () => pidsCalled(processes(), daemons)
  return { name, namespace, ports, processes, daemons: announcing, electors: announcing }
}

export async function pidsCalled(
  pids: Promise<readonly number[]>,
  names: readonly string[],
): Promise<readonly number[]> {
  const found: number[] = []
  for (const pid of await pids) if (names.includes(programOf(pid))) found.push(pid)
  return found
}

const batch = (namespace: string, lines: readonly string[]): Promise<string> =>
  must(['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` })
