import { type Lab, must } from '@spout/testkit'

/** A namespace next to the tenant's domain on a node, connected in the same way: the hand-made alternative. */
export interface PeerDomain {
  readonly namespace: string
  /** Its address in the tenant's network. */
  readonly address: string
}

export interface PeerDomainSpec {
  readonly name: string
  readonly node: string
  readonly segment: string
  /** Number that keeps its addresses apart from those of other peers: 0 to 9. */
  readonly index: number
  /** The address that the client reaches through it. */
  readonly destination: string
}

const NODE_ADDRESS = '198.51.100.2'
const CLIENT_GATEWAY = '203.0.113.1'

/**
 * Creates it and the routes to it: client, router, node, this namespace, tenant network. The client has an address of
 * its own for each peer, and the members reply to that through the peer.
 */
export async function addPeerDomain(lab: Lab, spec: PeerDomainSpec): Promise<PeerDomain> {
  const namespace = lab.namespace(spec.name)
  const node = lab.namespace(spec.node)
  const [root, inner] = [`169.254.${100 + spec.index}.1`, `169.254.${100 + spec.index}.2`]
  const address = `10.0.0.${200 + spec.index}`
  const client = `203.0.113.${20 + spec.index}`
  await must(['ip', 'netns', 'add', namespace])
  const sysctls = [
    'net.ipv4.ip_forward=1',
    'net.ipv4.conf.all.send_redirects=0',
    'net.ipv4.conf.default.send_redirects=0',
  ]
  await must(['ip', 'netns', 'exec', namespace, 'sysctl', '-qw', ...sysctls])
  await batch(node, [
    `link add name ${spec.name} type veth peer name uplink netns ${namespace}`,
    `address add ${root}/30 dev ${spec.name}`,
    `link set dev ${spec.name} up`,
    `link add link seg-${spec.segment.at(-1)} name segment netns ${namespace} type macvlan mode bridge`,
    `route add ${spec.destination}/32 via ${inner}`,
  ])
  await batch(namespace, [
    'link set dev lo up',
    `address add ${inner}/30 dev uplink`,
    'link set dev uplink up',
    `address add ${address}/24 dev segment`,
    'link set dev segment up',
    `route add default via ${root}`,
  ])
  await batch(lab.namespace('router'), [`route replace ${spec.destination}/32 via ${NODE_ADDRESS}`])
  await batch(lab.namespace('client'), [
    `address add ${client}/24 dev eth0`,
    `route replace ${spec.destination}/32 via ${CLIENT_GATEWAY} src ${client}`,
  ])
  for (const member of [1, 2])
    await batch(lab.namespace(`${spec.segment}-member${member}`), [`route replace ${client}/32 via ${address}`])
  return { namespace, address }
}

const batch = (namespace: string, lines: readonly string[]): Promise<string> =>
  must(['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` })
