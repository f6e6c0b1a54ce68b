import type { DomainConfig } from './domain-config.ts'
import type { DomainLayout, InterfaceAddress } from './domain-layout.ts'
import { SEGMENT, TUNNEL_PORT, TUNNELS, UPLINK } from './domain-names.ts'
import { OWN_PORTS } from './guard.ts'
import type { Run } from './run.ts'

/** What an interface made later inherits, so that it is right from its first packet. */
const SYSCTLS: readonly string[] = [
  'net.ipv4.ip_forward=1',
  // The guard's chain `claimed` says who may speak as whom, for IPv6 too.
  'net.ipv4.conf.all.rp_filter=0',
  'net.ipv4.conf.default.rp_filter=0',
  // VIPs are local routes. Without this the kernel looks up each packet's source as well, to drop local ones: it does
  // so in IPv4 alone, and what such a packet could reach it reaches under any other address of its network.
  'net.ipv4.conf.all.accept_local=1',
  // A VIP on lo must not be answered for on the segment by every node that holds it.
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
  // Requests and replies may pass through different nodes: each sees half a window.
  'net.netfilter.nf_conntrack_tcp_be_liberal=1',
  // What is known of the sequence numbers may be of an earlier connection of the same ports, whose end another node saw:
  // a reset behind them would be called invalid, and never reach the member.
  'net.netfilter.nf_conntrack_tcp_ignore_invalid_rst=1',
  // The proxy leaves no socket behind of a connection that it closed: for a minute that would take what is meant for a
  // connection from the same port which has begun on another node since, instead of having it sent on (second-chance).
  'net.ipv4.tcp_max_tw_buckets=0',
  // The guard knows the domain's own connections by these.
  `net.ipv4.ip_local_port_range=${OWN_PORTS.first} ${OWN_PORTS.last}`,
  // What answers a marked packet bears its mark: the guard has answers of counted connections tracked.
  'net.ipv4.tcp_fwmark_accept=1',
  'net.ipv4.fwmark_reflect=1',
  'net.ipv6.fwmark_reflect=1',
]

/** Sets the domain's sysctls. Its namespace must hold a table that tracks connections, else theirs do not exist. */
export async function setDomainSysctls(run: Run, layout: DomainLayout): Promise<void> {
  await run('ip', ['netns', 'exec', layout.names.namespace, 'sysctl', '-q', '-w', ...SYSCTLS])
}

const inRoot = (config: DomainConfig): readonly string[] => (config.rootNamespace ? ['-n', config.rootNamespace] : [])

/** Makes the uplink, up and with the root's addresses. */
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
  // Replies have VIPs as their sources, and the guard lets nothing else out: looking each up again costs more than all
  // of the table's rules, as the steering rules match the protocol.
  const exec = config.rootNamespace ? ['ip', 'netns', 'exec', config.rootNamespace, 'sysctl'] : ['sysctl']
  await run(exec[0]!, [...exec.slice(1), '-q', '-w', `net.ipv4.conf.${rootLink}.accept_local=1`])
  await run('ip', ['-n', namespace, '-batch', '-'], `link set dev lo up\nlink set dev ${UPLINK} up`)
}

/** Makes the segment's interface in the domain, up and without addresses. */
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

/** A cable between domain and root, without addresses; root is the router to everything that the node reaches. */
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

/** Gives root's end of a segment the routers' addresses; with their prefixes root knows the way to the domain's own. */
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

/** Makes the tunnels of both families, up: a VXLAN interface has one. Where a member is reached is told it by its driver. */
export async function makeTunnels(run: Run, layout: DomainLayout): Promise<void> {
  const lines = ([4, 6] as const).flatMap((version) => {
    const name = TUNNELS[version]
    const family = version === 4 ? '' : ' local ::'
    return [
      `link add name ${name} type vxlan id ${layout.vni}${family} dstport ${TUNNEL_PORT} nolearning`,
      // It is no network: no address of its own, no router solicitations.
      `link set dev ${name} addrgenmode none`,
      `link set dev ${name} up`,
    ]
  })
  await run('ip', ['-n', layout.names.namespace, '-batch', '-'], lines.join('\n'))
}

/** Removes one interface; one that is not there is no error. */
export async function removeLink(run: Run, namespace: string | null, name: string): Promise<void> {
  const at = namespace === null ? [] : ['-n', namespace]
  try {
    await run('ip', [...at, 'link', 'delete', 'dev', name])
  } catch (error) {
    if (!/Cannot find device|No such file/.test(String(error))) throw error
  }
}

/** Makes a named namespace; one that is there is no error. */
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
