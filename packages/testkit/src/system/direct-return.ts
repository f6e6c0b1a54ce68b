import type { Lab } from '../lab/lab.ts'
import { must } from '../lab/run.ts'
import { TENANT_SUBNET } from '../lab/topology.ts'

/**
 * Makes the lab's router the gateway of a tenant's segment, as return path `dsr` needs it: members answer clients
 * through it instead of a load-balancer node.
 */
export async function answerThroughRouter(lab: Lab, segment: string): Promise<void> {
  const port = `r-${segment}`
  const link = `seg-${segment.at(-1)}`
  const { gateway, gateway6 } = TENANT_SUBNET
  const switched = [
    `link add name ${port} type veth peer name ${link} netns ${lab.namespace('router')}`,
    `link set dev ${port} master br-${segment}`,
    `link set dev ${port} up`,
  ]
  await lab.must('fabric', ['ip', '-batch', '-'], { input: `${switched.join('\n')}\n` })
  const inside = [
    `link set dev ${link} up`,
    `address add ${gateway}/24 dev ${link}`,
    `address add ${gateway6}/64 dev ${link} nodad`,
  ]
  await lab.must('router', ['ip', '-batch', '-'], { input: `${inside.join('\n')}\n` })
  // Packets from members have a source address of the fabric.
  await lab.must('router', ['sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', `net.ipv4.conf.${link}.rp_filter=0`])
}

/** Prepares the two members of a segment for a VIP as docs/networks.md describes. */
export async function holdVip(lab: Lab, segment: string, vip: string): Promise<void> {
  for (const member of [1, 2].map((index) => `${segment}-member${index}`)) {
    await lab.must(member, ['sysctl', '-qw', 'net.ipv4.conf.all.arp_ignore=1', 'net.ipv4.conf.all.arp_announce=2'])
    await lab.must(member, ['ip', 'address', 'replace', `${vip}/${vip.includes(':') ? 128 : 32}`, 'dev', 'lo'])
  }
}

/** A member behind a router: the lab's, or a host of a tenant's segment. */
export interface FarMember {
  readonly place: string
  /** IPv4, in a /24 of its own whose first address is the router's. */
  readonly address: string
}

/**
 * Creates the place, which disappears with the lab; the caller starts a server in it.
 * @param router the place that forwards for it
 */
export async function joinFarMember(lab: Lab, { place, address }: FarMember, router = 'router'): Promise<void> {
  const namespace = lab.namespace(place)
  const gateway = address.replace(/\d+$/, '1')
  await must(['ip', 'netns', 'add', namespace])
  const atRouter = [
    `link add name ${place} type veth peer name eth0 netns ${namespace}`,
    `address add ${gateway}/24 dev ${place}`,
    `link set dev ${place} up`,
  ]
  await lab.must(router, ['ip', '-batch', '-'], { input: `${atRouter.join('\n')}\n` })
  await lab.must(router, ['sysctl', '-qw', 'net.ipv4.ip_forward=1', `net.ipv4.conf.${place}.rp_filter=0`])
  const inside = [
    'link set dev lo up',
    'link set dev eth0 up',
    `address add ${address}/24 dev eth0`,
    `route add default via ${gateway} advmss 1370`,
  ]
  await lab.must(place, ['ip', '-batch', '-'], { input: `${inside.join('\n')}\n` })
}

/** Prepares it for a VIP and the tunnel of its network as docs/networks.md says. @param vni the network's number */
export async function holdFarVip(lab: Lab, { place, address }: FarMember, vni: number, vip: string): Promise<void> {
  const mac = ['02', '00', ...address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))].join(':')
  const lines = [
    `link add name spout0 address ${mac} type vxlan id ${vni} dstport 4789 nolearning`,
    'link set dev spout0 up',
    `address add ${vip}/32 dev lo`,
  ]
  await lab.must(place, ['ip', '-batch', '-'], { input: `${lines.join('\n')}\n` })
  await lab.must(place, ['sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.spout0.rp_filter=0'])
}
