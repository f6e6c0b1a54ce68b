import { run } from '../../domain/run.ts'
import type { Arrangement } from '../arrangement.ts'

/** A router of the red segment that is no load-balancer node (a Kubernetes node is one), and what is behind it. */
export const ROUTER = { 4: '10.0.0.21', 6: 'fd01::21' } as const
export const BEHIND = {
  routes: [
    { to: '10.244.3.0/24', via: ROUTER[4] },
    { to: 'fd44:3::/64', via: ROUTER[6] },
  ],
  member: { 4: '10.244.3.11', 6: 'fd44:3::11' },
  /** The same host has these too, to which no route leads. */
  stray: { 4: '10.245.0.9', 6: 'fd45::9' },
} as const

/** Makes the places `router` and `pod`: a member whose only way out is the router. They go with the arrangement. */
export async function joinRoutedMember(lab: Arrangement): Promise<void> {
  for (const place of ['router', 'pod']) {
    await run('ip', ['netns', 'add', lab.namespace(place)])
    await lab.run(place, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.dad_transmits=0')
    await lab.run(place, 'sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0')
  }
  await lab.run('router', 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1')
  const atSwitch = [
    `link add name router-red type veth peer name red netns ${lab.namespace('router')}`,
    'link set dev router-red master red',
    'link set dev router-red up',
  ]
  await run('ip', ['-n', lab.namespace('switch'), '-batch', '-'], atSwitch.join('\n'))
  const atRouter = [
    `link add name pods type veth peer name eth0 netns ${lab.namespace('pod')}`,
    'link set dev red up',
    'link set dev pods up',
    `address add ${ROUTER[4]}/24 dev red`,
    `address add ${ROUTER[6]}/64 dev red nodad`,
    'address add 10.244.3.1/24 dev pods',
    'address add fd44:3::1/64 dev pods nodad',
    `route add ${BEHIND.stray[4]}/32 dev pods`,
    `route add ${BEHIND.stray[6]}/128 dev pods`,
    // The gateway of the red segment: with return path `gateway`, the load-balancer nodes.
    'route add 0.0.0.0/0 via 10.0.0.1',
    'route add ::/0 via fd01::1',
  ]
  await run('ip', ['-n', lab.namespace('router'), '-batch', '-'], atRouter.join('\n'))
  const atPod = [
    'link set dev lo up',
    'link set dev eth0 up',
    `address add ${BEHIND.member[4]}/24 dev eth0`,
    `address add ${BEHIND.member[6]}/64 dev eth0 nodad`,
    `address add ${BEHIND.stray[4]}/32 dev eth0`,
    `address add ${BEHIND.stray[6]}/128 dev eth0 preferred_lft 0 nodad`,
    'route add 0.0.0.0/0 via 10.244.3.1',
    'route add ::/0 via fd44:3::1',
  ]
  await run('ip', ['-n', lab.namespace('pod'), '-batch', '-'], atPod.join('\n'))
  const peer = lab.adopt('pod', lab.namespace('pod'))
  await peer.serve(8080)
}
