import type { DomainConfig } from './domain-config.ts'
import type { DomainLayout, InterfaceAddress } from './domain-layout.ts'
import { SEGMENT, TUNNEL_PORT, TUNNELS, UPLINK } from './domain-names.ts'
import { OWN_PORTS } from './guard.ts'
import type { Run } from './run.ts'

/** Set before interfaces are made, which inherit them from their first packet on. */
const SYSCTLS: readonly string[] = [
  'net.ipv4.ip_forward=1',
  // The guard's chain `claimed` checks source addresses, for IPv6 too.
  'net.ipv4.conf.all.rp_filter=0',
  'net.ipv4.conf.default.rp_filter=0',
  // VIPs are local routes. Without this the kernel looks up each packet's source too, to drop local ones. It does so
  // for IPv4 only, and such a packet can reach nothing that it could not reach with another address of its network.
  'net.ipv4.conf.all.accept_local=1',
  // Otherwise every node that has a VIP on lo would answer ARP for it on the segment.
  'net.ipv4.conf.all.arp_ignore=1',
  'net.ipv4.conf.all.arp_announce=2',
  'net.ipv4.conf.all.accept_redirects=0',
  'net.ipv4.conf.default.accept_redirects=0',
  // Client and member in one subnet: a redirect would make the client bypass the VIP.
  'net.ipv4.conf.all.send_redirects=0',
  'net.ipv4.conf.default.send_redirects=0',
  'net.ipv6.conf.all.disable_ipv6=0',
  'net.ipv6.conf.default.disable_ipv6=0',
  'net.ipv6.conf.all.forwarding=1',
  'net.ipv6.conf.default.accept_dad=0',
  'net.ipv6.conf.default.accept_ra=0',
  'net.ipv6.conf.default.accept_redirects=0',
  'net.netfilter.nf_conntrack_tcp_loose=1',
  // The tracked sequence numbers may belong to an earlier connection of the same ports whose end another node saw. A
  // reset beyond them would be invalid and never reach the member.
  'net.netfilter.nf_conntrack_tcp_ignore_invalid_rst=1',
  // The proxy keeps no TIME_WAIT socket of a connection that it closed. For a minute that socket would take packets of
  // a newer connection from the same port on another node, which second chance must forward.
  'net.ipv4.tcp_max_tw_buckets=0',
  // The guard recognizes the domain's own connections by their ports.
  `net.ipv4.ip_local_port_range=${OWN_PORTS.first} ${OWN_PORTS.last}`,
  // Responses to marked packets get the same mark, by which the guard has the responses of counted connections tracked.
  'net.ipv4.tcp_fwmark_accept=1',
  'net.ipv4.fwmark_reflect=1',
  'net.ipv6.fwmark_reflect=1',
]

/**
 * Where requests and replies pass through different nodes, each node sees half of the window. Where they do not, a packet
 * beyond the window belongs to a connection of another node, and to one of the same ports that ended here: conntrack
 * must not take it for that one.
 */
const liberal = ({ seesWholeFlows }: DomainLayout): string =>
  `net.netfilter.nf_conntrack_tcp_be_liberal=${seesWholeFlows ? 0 : 1}`

/**
 * Sets the domain's sysctls. Its namespace must have a table that tracks connections; otherwise the conntrack sysctls
 * do not exist.
 */
export async function setDomainSysctls(run: Run, layout: DomainLayout): Promise<void> {
  await run('ip', ['netns', 'exec', layout.names.namespace, 'sysctl', '-q', '-w', ...SYSCTLS, liberal(layout)])
}

const inRoot = (config: DomainConfig): readonly string[] => (config.rootNamespace ? ['-n', config.rootNamespace] : [])

/** Creates the uplink, sets it up, and adds the root's addresses. */
export async function makeUplink(run: Run, config: DomainConfig, layout: DomainLayout): Promise<void> {
  const { rootLink, namespace, root } = layout.names
  const mtu = await fabricMtu(run, config)
  const lines = [
    `link add name ${rootLink} mtu ${mtu} type veth peer name ${UPLINK} netns ${namespace} mtu ${mtu}`,
    `address add ${root.ipv4}/31 dev ${rootLink}`,
    `address add ${root.ipv6}/127 dev ${rootLink} nodad`,
    `link set dev ${rootLink} up`,
  ]
  await run('ip', [...inRoot(config), '-batch', '-'], lines.join('\n'))
  // Replies have VIPs as their sources, and the guard drops anything else. Looking up each source again would cost more
  // than all rules of the table.
  const exec = config.rootNamespace ? ['ip', 'netns', 'exec', config.rootNamespace, 'sysctl'] : ['sysctl']
  await run(exec[0]!, [...exec.slice(1), '-q', '-w', `net.ipv4.conf.${rootLink}.accept_local=1`])
  await run('ip', ['-n', namespace, '-batch', '-'], `link set dev lo up\nlink set dev ${UPLINK} up`)
}

/** Creates the segment's interface in the domain, up and without addresses. */
export async function makeSegment(run: Run, config: DomainConfig, layout: DomainLayout): Promise<void> {
  const { segment } = layout
  const { namespace } = layout.names
  if ('hostLink' in segment) return makeHostSegment(run, config, segment.hostLink, namespace)
  const { parent, vlan } = segment
  const type = vlan === null ? ['macvlan', 'mode', 'bridge'] : ['vlan', 'id', String(vlan)]
  const link = ['link', 'add', 'link', parent, 'name', SEGMENT, 'netns', namespace, 'type', ...type]
  await run('ip', [...inRoot(config), ...link])
  await run('ip', ['-n', namespace, 'link', 'set', 'dev', SEGMENT, 'up'])
}

/**
 * Creates a veth pair between domain and root, without addresses. Root is the router to everything that the node
 * reaches.
 */
async function makeHostSegment(run: Run, config: DomainConfig, hostLink: string, namespace: string): Promise<void> {
  await removeLink(run, config.rootNamespace ?? null, hostLink)
  const mtu = await fabricMtu(run, config)
  const lines = [
    `link add name ${hostLink} mtu ${mtu} type veth peer name ${SEGMENT} netns ${namespace} mtu ${mtu}`,
    `link set dev ${hostLink} up`,
  ]
  await run('ip', [...inRoot(config), '-batch', '-'], lines.join('\n'))
  await run('ip', ['-n', namespace, 'link', 'set', 'dev', SEGMENT, 'up'])
}

/**
 * Adds the routers' addresses to root's end of a segment. Their prefixes give root a route to the domain's own
 * addresses.
 */
export async function setHostAddresses(
  run: Run,
  config: DomainConfig,
  hostLink: string,
  changes: { readonly add: readonly InterfaceAddress[]; readonly remove: readonly InterfaceAddress[] },
): Promise<void> {
  const words = ({ address, prefix }: InterfaceAddress) => `${address}/${prefix} dev ${hostLink}`
  const lines = [
    ...changes.remove.map((one) => `address delete ${words(one)}`),
    ...changes.add.map((one) => `address add ${words(one)}${one.address.includes(':') ? ' nodad' : ''}`),
  ]
  await run('ip', [...inRoot(config), '-batch', '-'], lines.join('\n'))
}

/**
 * Creates the tunnels and sets them up, one VXLAN interface for each family. The driver adds the remote addresses of
 * members.
 */
export async function makeTunnels(run: Run, layout: DomainLayout): Promise<void> {
  const lines = ([4, 6] as const).flatMap((version) => {
    const name = TUNNELS[version]
    const family = version === 4 ? '' : ' local ::'
    return [
      `link add name ${name} type vxlan id ${layout.vni}${family} dstport ${TUNNEL_PORT} nolearning`,
      // The tunnel device must have no address of its own, and send no router solicitations.
      `link set dev ${name} addrgenmode none`,
      `link set dev ${name} up`,
    ]
  })
  await run('ip', ['-n', layout.names.namespace, '-batch', '-'], lines.join('\n'))
}

/** Removes an interface. A missing one is no error. */
export async function removeLink(run: Run, namespace: string | null, name: string): Promise<void> {
  const at = namespace === null ? [] : ['-n', namespace]
  try {
    await run('ip', [...at, 'link', 'delete', 'dev', name])
  } catch (error) {
    if (!/Cannot find device|No such file/.test(String(error))) throw error
  }
}

/** Creates a named namespace. An existing one is no error. */
export async function makeNamespace(run: Run, name: string): Promise<void> {
  try {
    await run('ip', ['netns', 'add', name])
  } catch (error) {
    if (!/File exists/.test(String(error))) throw error
  }
}

export async function removeNamespace(run: Run, name: string): Promise<void> {
  try {
    await run('ip', ['netns', 'delete', name])
  } catch (error) {
    if (!/No such file/.test(String(error))) throw error
  }
}

async function fabricMtu(run: Run, config: DomainConfig): Promise<number> {
  const text = await run('ip', [...inRoot(config), '-j', 'link', 'show', 'dev', config.fabricInterface])
  const [link] = JSON.parse(text) as readonly { readonly mtu: number }[]
  return link?.mtu ?? 1500
}
