import { parseIp } from '@spout/net'
import { run } from '../../domain/run.ts'
import { tunnelMac } from '../../drivers/nftables/tunnel-neighbours.ts'
import { type Arrangement, addAddress } from '../arrangement.ts'

/** The red segment's own router, which is no load-balancer node: members answer clients through it. */
export const ROUTER = { fabric: ['10.9.0.254/24', 'fd09::254/64'], red: ['10.0.0.254/24', 'fd01::254/64'] } as const

/**
 * Makes members of the red segment hold VIPs as an operator would (docs/networks.md), and a place `router` between red
 * and the fabric that their answers go through. It goes with the arrangement.
 * @param vips prefixes that the members take for their own
 */
export async function holdVips(lab: Arrangement, members: readonly string[], vips: readonly string[]): Promise<void> {
  const router = lab.namespace('router')
  await run('ip', ['netns', 'add', router])
  await lab.run('router', 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1')
  await lab.run('router', 'sysctl -qw net.ipv6.conf.default.accept_dad=0')
  for (const [segment, addresses] of Object.entries(ROUTER)) {
    const port = `router-${segment}`
    const join = [
      `link add name ${port} type veth peer name ${segment} netns ${router}`,
      `link set dev ${port} master ${segment}`,
      `link set dev ${port} up`,
    ]
    await run('ip', ['-n', lab.namespace('switch'), '-batch', '-'], join.join('\n'))
    const inside = [`link set dev ${segment} up`, ...addresses.map((each) => addAddress(each, segment))]
    await run('ip', ['-n', router, '-batch', '-'], inside.join('\n'))
  }
  for (const member of members) {
    await lab.run(member, 'sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2')
    const lines = [
      ...vips.map((vip) => addAddress(vip, 'lo')),
      'route replace 0.0.0.0/0 via 10.0.0.254',
      'route replace ::/0 via fd01::254',
    ]
    await run('ip', ['-n', lab.namespace(member), '-batch', '-'], lines.join('\n'))
  }
}

/** Behind the router, each in subnets of its own. */
export const FAR = {
  far1: { addresses: ['10.8.1.11/24', 'fd08:1::11/64'], gateways: ['10.8.1.1', 'fd08:1::1'] },
  far2: { addresses: ['10.8.2.12/24', 'fd08:2::12/64'], gateways: ['10.8.2.1', 'fd08:2::1'] },
} as const

/** Segments of clients fit into the tunnel: 1500 less 70 of VXLAN over IPv6, and 60 of IPv6 and TCP. */
const ADVERTISED_MSS = 1370

/** Makes the places of `FAR`, whose members hold the VIPs and take packets from tunnels as docs/networks.md says. */
export async function joinFarMembers(lab: Arrangement, vips: readonly string[], vni: number): Promise<void> {
  for (const [place, { addresses, gateways }] of Object.entries(FAR)) {
    const namespace = lab.namespace(place)
    await run('ip', ['netns', 'add', namespace])
    await lab.run(place, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv4.conf.all.rp_filter=0')
    await lab.run(place, 'sysctl -qw net.ipv4.conf.default.rp_filter=0')
    const atRouter = [
      `link add name ${place} type veth peer name eth0 netns ${namespace}`,
      ...gateways.map((gateway) => addAddress(`${gateway}/${gateway.includes(':') ? 64 : 24}`, place)),
      `link set dev ${place} up`,
    ]
    await run('ip', ['-n', lab.namespace('router'), '-batch', '-'], atRouter.join('\n'))
    const inside = [
      'link set dev lo up',
      'link set dev eth0 up',
      ...addresses.map((address) => addAddress(address, 'eth0')),
      ...gateways.map((via) => `route add default via ${via} advmss ${ADVERTISED_MSS}`),
      ...vips.map((vip) => addAddress(vip, 'lo')),
      ...addresses.flatMap((address, index) => {
        const family = index === 0 ? '' : ' local ::'
        const mac = tunnelMac(parseIp(address.slice(0, address.indexOf('/'))))
        return [
          `link add name spout${index} address ${mac} type vxlan id ${vni}${family} dstport 4789 nolearning`,
          `link set dev spout${index} up`,
        ]
      }),
    ]
    await run('ip', ['-n', namespace, '-batch', '-'], inside.join('\n'))
  }
}
