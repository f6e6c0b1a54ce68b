import { judgeRoom } from '@spout/sys/disk-check'
import { describe, expect, test } from 'vitest'
import { judgeAgentProcess } from './checks/agent-process.ts'
import { judgeBuilds } from './checks/builds.ts'
import { judgeClaims } from './checks/claims.ts'
import { judgeClock } from './checks/clock.ts'
import { judgeElections } from './checks/elections.ts'
import { judgeFirewall } from './checks/firewall.ts'
import { judgeKernel } from './checks/kernel.ts'
import { judgeLink } from './checks/link.ts'
import { judgeNeighbours } from './checks/neighbours.ts'
import { judgePacketSizes } from './checks/packet-sizes.ts'
import { judgeRivals } from './checks/rivals.ts'
import { judgeRouters } from './checks/routers.ts'
import { judgeSysctls } from './checks/sysctls.ts'
import { judgeTrackedFlows } from './checks/tracked-flows.ts'
import { KERNEL_FEATURES } from './kernel-features.ts'
import { NODE_CHECKS } from './node-checks.ts'
import type { LinkAnswer, LinkReading } from './readings/link.ts'

interface Shown {
  readonly code: string
  readonly subject: string | null
  readonly message: string
  readonly fix: string
}

/** Code, subject, message and fix of each finding. */
const linesOf = (found: readonly Shown[]): readonly string[] =>
  found.map(({ code, subject, message, fix }) => [code, subject ?? '-', message, fix].join(' | '))

const shown = new Set<string>()
function expectLines(found: readonly Shown[], lines: readonly string[]): void {
  expect(linesOf(found)).toEqual(lines)
  for (const { code } of found) shown.add(code)
}

const SYSCTLS = {
  'net.ipv4.ip_forward': '1',
  'net.ipv6.conf.all.forwarding': '1',
  'net.ipv6.conf.all.proxy_ndp': '0',
  'net.ipv6.conf.fab0.proxy_ndp': '1',
}
const sysctls = (values: object, more: object = {}) =>
  judgeSysctls({
    ...{ values: { ...SYSCTLS, ...values }, fabric: 'fab0', namespace: null },
    ...{ proxiesNeighbours: true, ...more },
  })

test('sysctls', () => {
  expectLines(sysctls({}), [])
  expectLines(sysctls({ 'net.ipv4.ip_forward': '0', 'net.ipv6.conf.all.forwarding': '0' }, { namespace: 'fabric' }), [
    'ForwardingOff | - | net.ipv4.ip_forward is 0. | ip netns exec fabric sysctl -w net.ipv4.ip_forward=1',
    'Forwarding6Off | - | net.ipv6.conf.all.forwarding is 0. | ip netns exec fabric sysctl -w net.ipv6.conf.all.forwarding=1',
  ])
  expectLines(sysctls({ 'net.ipv6.conf.fab0.proxy_ndp': '0' }), [
    'NeighbourProxyOff | fab0 | net.ipv6.conf.all.proxy_ndp is 0, net.ipv6.conf.fab0.proxy_ndp is 0. | sysctl -w net.ipv6.conf.fab0.proxy_ndp=1',
  ])
  expectLines(sysctls({ 'net.ipv6.conf.fab0.proxy_ndp': '0' }, { proxiesNeighbours: false }), [])
})

test('connections', () => {
  const table = (flows: number, most = 1_000) => ({ namespace: 'spout-d1', flows, most })
  expectLines(judgeTrackedFlows([table(749), table(5, 0)]), [])
  expectLines(judgeTrackedFlows([table(750), table(950)]), [
    'TableFilling | spout-d1 | It tracks 750 of 1000 connections. | sysctl -w net.netfilter.nf_conntrack_max=2000',
    'TableFull | spout-d1 | It tracks 950 of 1000 connections. | sysctl -w net.netfilter.nf_conntrack_max=2000',
  ])
})

test('disk', () => {
  const room = (device: number, freeMegabytes: number, freeFiles = 1_000) => ({
    ...{ directory: '/var/lib/spout-agent', mount: '/var/lib', device, freeBytes: freeMegabytes * 2 ** 20 },
    ...{ totalBytes: 10_000 * 2 ** 20, freeFiles, totalFiles: 1_000 },
  })
  expectLines(judgeRoom([room(1, 1_000), { ...room(2, 5_000), totalFiles: 0, freeFiles: 0 }]), [])
  expectLines(judgeRoom([room(1, 999), room(1, 999), room(2, 5_000, 19)]), [
    'DiskFilling | /var/lib/spout-agent | 999 of 10000 MB and 1000 of 1000 files are left on /var/lib. | du -xh -d 2 /var/lib | sort -h | tail',
    'DiskFull | /var/lib/spout-agent | 5000 of 10000 MB and 19 of 1000 files are left on /var/lib. | du -xh -d 2 /var/lib | sort -h | tail',
  ])
})

test('clock', () => {
  expectLines(judgeClock({ synchronised: true, aheadMs: -30_000 }), [])
  expectLines(judgeClock({ synchronised: false, aheadMs: null }), [
    'ClockAlone | - | The kernel says that it is not synchronised. | timedatectl set-ntp true',
  ])
  expectLines(judgeClock({ synchronised: false, aheadMs: 61_000 }), [
    "ClockDiffers | - | It is 61 s ahead of the control plane's. | timedatectl set-ntp true",
  ])
})

describe('packet sizes', () => {
  const domain = (more: object) => ({
    ...{ namespace: 'spout-d1', rootLink: 'spoutu1', rootMtu: 1500, uplink: 'uplink', uplinkMtu: 1500 },
    ...{ segmentMtu: 1500, tunnels: [], ...more },
  })
  const sizes = (more: object) =>
    judgePacketSizes({
      ...{ fabric: { name: 'fab0', mtu: 1500, up: true }, domains: [domain({})], namespace: null },
      ...{ segments: [{ network: 'a', link: 'seg0', mtu: 1500 }], ...more },
    })

  test('of links', () => {
    expectLines(sizes({}), [])
    expectLines(sizes({ fabric: null }), [
      'FabricMissing | the fabric interface | It does not exist. | name it in the settings: fabric.interface',
    ])
    expectLines(sizes({ fabric: { name: 'fab0', mtu: 1500, up: false }, namespace: 'f' }), [
      'FabricMissing | fab0 | It is down. | ip -n f link set dev fab0 up',
    ])
    expectLines(sizes({ segments: [{ network: 'a', link: 'seg0', mtu: null }] }), [
      'SegmentMissing | seg0 | It does not exist, and a is said to be on it. | name it in the settings: segments',
    ])
    expectLines(sizes({ segments: [{ network: 'a', link: 'seg0', mtu: 1400 }] }), [
      "SegmentSmaller | seg0 | Its MTU is 1400, and the fabric's 1500. | ip link set dev seg0 mtu 1500",
    ])
  })

  test('of domains', () => {
    expectLines(sizes({ domains: [domain({ uplinkMtu: 1400 })] }), [
      "UplinkDiffers | spoutu1 | Its MTU is 1400, and the fabric's 1500. | ip link set dev spoutu1 mtu 1500 && ip -n spout-d1 link set dev uplink mtu 1500",
    ])
    expectLines(sizes({ domains: [domain({ tunnels: ['tunnel4'] })] }), [
      'TunnelDoesNotFit | spout-d1 | Its segment has an MTU of 1500; a packet of 1500 and its VXLAN header need 1570. | ip link set dev INTERFACE mtu 1570 for its segment, or advmss on the routes of its members',
    ])
    expectLines(sizes({ domains: [domain({ tunnels: ['tunnel4'], segmentMtu: 1570 })] }), [])
  })
})

test('firewall: what drops by its policy needs a rule that accepts, in the chain or in one that it leads to', () => {
  const chain = (hook: 'input' | 'forward', policy: 'accept' | 'drop', ...rules: readonly object[][]) => ({
    ...{ family: 'ip', table: 'filter', chain: hook.toUpperCase(), hook, policy, rules },
  })
  const judge = (chains: readonly ReturnType<typeof chain>[], speaksVrrp = true, namespace: string | null = null) =>
    judgeFirewall({ chains, instance: 'spout', fabric: 'fab0', namespace, speaksVrrp })
  expectLines(judge([chain('input', 'accept'), chain('forward', 'accept')]), [])
  expectLines(judge([chain('input', 'drop')], false), [])
  expectLines(judge([chain('forward', 'drop'), chain('input', 'drop')], true, 'fabric'), [
    `ForwardingDropped | ip filter FORWARD | It drops forwarded packets by its policy. | ip netns exec fabric nft insert rule ip filter FORWARD iifname '"spoutu*"' accept`,
    'AdvertsDropped | ip filter INPUT | It drops incoming packets by its policy. | ip netns exec fabric nft insert rule ip filter INPUT meta l4proto 112 accept',
  ])
  const match = (left: object, right: unknown, op = '==') => ({ match: { op, left, right } })
  const [l4, from, to] = ['l4proto', 'iifname', 'oifname'].map((key) => ({ meta: { key } })) as [object, object, object]
  const accept = { accept: null }
  const state = match({ ct: { key: 'state' } }, ['established', 'related'], 'in')
  // What accepts, and what does not.
  for (const rule of [
    [accept],
    [match(l4, 'vrrp'), accept],
    [match({ payload: { protocol: 'ip', field: 'protocol' } }, { set: [50, 112] }), accept],
    [match(from, 'fab0'), match({ payload: { protocol: 'ip', field: 'saddr' } }, '192.0.2.2'), accept],
  ])
    expectLines(judge([chain('input', 'drop', rule)]), [])
  for (const rule of [
    [match(l4, 'vrrp', '!='), accept],
    [match(l4, 'vrrp'), { counter: null }],
    [match(from, 'eth9'), accept],
    [match({ payload: { protocol: 'tcp', field: 'dport' } }, 22), accept],
    [state, accept],
  ])
    expect(judge([chain('input', 'drop', rule)]), JSON.stringify(rule)).toHaveLength(1)
  for (const rule of [
    [match(from, 'spoutu*'), accept],
    [match(to, 'fab0'), accept],
    [match(from, 'sp*'), accept],
  ])
    expectLines(judge([chain('forward', 'drop', rule)]), [])
  for (const rule of [
    [match(from, 'docker0'), accept],
    [match(to, 'fab0', '!='), accept],
    [state, accept],
  ])
    expect(judge([chain('forward', 'drop', rule)]), JSON.stringify(rule)).toHaveLength(1)
})

test('ports', () => {
  const process = (pid: number, program: string, unit: string | null) => ({
    ...{ pid, program, unit, commandLine: program, network: 'net:[1]' },
  })
  const port = { protocol: 'tcp', number: 179, what: 'BGP' } as const
  const [frr, mine] = [process(71, 'bgpd', 'frr.service'), process(72, 'keepalived', null)]
  expectLines(judgeRivals({ holders: [], daemons: [] }), [])
  expectLines(judgeRivals({ holders: [{ port, by: frr }], daemons: [frr, mine] }), [
    'PortHeld | tcp 179 | bgpd (process 71) holds the port of BGP. | systemctl disable --now frr',
    'RivalDaemon | keepalived | Process 72 is not of the agent. | kill 72',
  ])
  expectLines(judgeRivals({ holders: [{ port, by: null }], daemons: [] }), [
    "PortHeld | tcp 179 | Something holds the port of BGP. | ss -lnp 'sport = :179' says who",
  ])
})

test('routers and addresses', () => {
  const routers = (answers: boolean) => ['192.0.2.1', '2001:db8::1'].map((address) => ({ address, answers }))
  expectLines(judgeNeighbours({ fabric: 'fab0', routers: routers(true) }), [])
  expectLines(judgeNeighbours({ fabric: 'fab0', routers: routers(false) }), [
    'RouterSilent | 192.0.2.1 | It answers no ARP request on fab0. | arping -c 3 -I fab0 192.0.2.1; look at the port of the switch',
    'MulticastFiltered | 2001:db8::1 | It answers no neighbour solicitation on fab0. | on the switch: an MLD querier, or ip link set dev BRIDGE type bridge mcast_snooping 0',
  ])
  const claimed = (isVip: boolean, mac: string | null) => ({ address: '192.0.2.9', isVip, mac })
  const claims = [claimed(false, '02:00:00:00:00:09'), claimed(true, '02:00:00:00:00:09'), claimed(true, null)]
  expectLines(judgeClaims({ fabric: 'fab0', left: 0, addresses: claims }), [
    'OwnAddressTwice | 192.0.2.9 | 02:00:00:00:00:09 answers for it, too. | on the machine with 02:00:00:00:00:09: ip address delete 192.0.2.9/PREFIX dev INTERFACE',
    'VipTwice | 192.0.2.9 | 02:00:00:00:00:09 answers for it, too. | on the machine with 02:00:00:00:00:09: ip address delete 192.0.2.9/PREFIX dev INTERFACE',
  ])
})

test('vrrp', () => {
  const peer = (answers: boolean) => ({ address: '192.0.2.2', answers })
  const shard = (state: string, adverts: number) => ({
    ...{ shard: 1, state, heard: adverts === 0 ? [] : [{ peer: '192.0.2.2', adverts }] },
  })
  const judge = (state: string, adverts: number, answers = true, peers = [peer(answers)]) =>
    judgeElections({ shards: [shard(state, adverts)], peers, listenedMs: 500 })
  expectLines(judgeElections(null), [])
  for (const [state, adverts] of [
    ['master', 0],
    // Adverts of a move that ended while it was listened.
    ['master', 4],
    ['backup', 25],
    ['fault', 0],
  ] as const)
    expectLines(judge(state, adverts), [])
  expectLines(judge('backup', 0, true, []), [])
  expectLines(judge('stopped', 0), ['ShardStopped | shard 1 | It is not running. | systemctl restart spout-agent'])
  expectLines(judge('master', 25), [
    'AdvertsUnheeded | shard 1 | 25 adverts of 192.0.2.2 arrived within 500 ms, and this node is master as well. | nft list ruleset; docs/runbook.md, "Two nodes own a shard"',
  ])
  expectLines(judge('backup', 0, false), [
    'NoMasterHeard | shard 1 | No advert arrived within 500 ms, and this node is backup. | systemctl restart spout-agent',
    'PeerSilent | 192.0.2.2 | It does not answer on the fabric. | on that node: ip link; spout-agent doctor',
  ])
})

test('bgp', () => {
  const session = (bgpState: string, lastError: string | null, limited = false) => ({
    ...{ name: 'p1', protocolState: 'up', since: '2026-02-01 00:00:00', neighborAddress: '192.0.2.251' },
    ...{ holdTimeS: 9, keepaliveTimeS: 3, neighborRestarts: true, bgpState, lastError },
    channels: [{ family: 'ipv4' as const, state: 'UP', exported: 1, received: 0, limited }],
  })
  const peers = [{ id: 'id-tor', address: '192.0.2.251', port: 179 }]
  const judge = (...sessions: readonly ReturnType<typeof session>[]) =>
    judgeRouters({ controlSocket: '/run/ctl', peers, sessions })
  expectLines(judgeRouters(null), [])
  expectLines(judge(session('Established', null)), [])
  expectLines(judgeRouters({ controlSocket: '/run/ctl', peers, sessions: null }), [
    'BirdStopped | - | Nobody answers on /run/ctl. | systemctl restart spout-agent',
  ])
  expectLines(
    judge(
      session('Active', null),
      session('Idle', 'BGP Error: Bad peer AS'),
      session('Active', 'Socket: Connection refused'),
      session('Established', null, true),
    ),
    [
      'SessionDown | 192.0.2.251 | The session is Active. | birdc -s /run/ctl show protocols all p1',
      'SessionDown | 192.0.2.251 | The session is Idle: BGP Error: Bad peer AS. | spout bgp-peer set id-tor --as NUMBER, the number of the router',
      'SessionDown | 192.0.2.251 | The session is Active: Socket: Connection refused. | on the router: the node as neighbour, and BGP on',
      'PeerSendsRoutes | 192.0.2.251 | It sends more routes than the limit. | on the router: an export filter for this neighbour',
    ],
  )
})

test('versions', () => {
  const haproxy = (version: string) => `HAProxy version ${version} 2026/10/17 - https://haproxy.org/`
  const right = { kernel: '6.1.0-18-amd64', haproxy: haproxy('2.6.12-1+deb12u4'), keepalived: null, bird: null }
  const daemons = { keepalived: 'Keepalived v2.2.7 (01/16,2022)', bird: 'BIRD version 2.0.12\n' }
  expectLines(judgeBuilds(right), [])
  expectLines(judgeBuilds({ ...right, kernel: '5.14.0', ...daemons }), [])
  expectLines(
    judgeBuilds({
      ...{ kernel: '5.10.0-28-amd64', haproxy: haproxy('2.6.14'), bird: 'BIRD version 3.0.1' },
      keepalived: 'Keepalived v2.2.4 (08/21,2021)',
    }),
    [
      'KernelOld | Linux | 5.10.0-28-amd64 runs, and 5.14 is the oldest that was tried. | apt-get install linux-image-amd64; reboot',
      'ProgramUnsafe | HAProxy | HAProxy 2.6.14 lets clients smuggle requests (CVE-2023-40225): install 2.6.12-1+deb12u1 of Debian, 2.6.15, 2.8.2 or later. | apt-get update && apt-get install --only-upgrade haproxy',
      'ProgramOld | keepalived | 2.2.4 runs; 2.2.7 or newer was tested. | apt-get update && apt-get install --only-upgrade keepalived',
      'ProgramOld | BIRD | 3.0.1 runs; 2.0.12 or newer and older than 3 was tested. | apt-get update && apt-get install --only-upgrade bird2',
    ],
  )
  expectLines(judgeBuilds({ ...right, haproxy: '', bird: '' }), [
    'ProgramMissing | HAProxy | It does not run here. | apt-get install haproxy',
    'ProgramMissing | BIRD | It does not run here. | apt-get install bird2',
  ])
})

test('kernel', () => {
  const feature = (needed: string) => KERNEL_FEATURES.find((one) => one.needed === needed)!
  expectLines(judgeKernel({ tried: 2, refused: [] }), [])
  const refused = ['always', 'sometimes'].map((needed) => ({ feature: feature(needed), error: 'nft: exit 1' }))
  expectLines(judgeKernel({ tried: 2, refused }), [
    'FeatureMissing | maps of several fields | Without it nothing is balanced. The kernel says: nft: exit 1 | modprobe nf_tables',
    'FeatureLacking | masquerading | Without it no members behind routes of the node. The kernel says: nft: exit 1 | modprobe nft_masq',
  ])
})

describe('control plane', () => {
  const day = (number: number): Date => new Date(Date.UTC(2026, 0, number))
  const url = 'https://control:9131'
  const answered: LinkAnswer = { url, outcome: 'answered', date: null }
  const judge = (more: Partial<LinkReading>) =>
    judgeLink({
      ...{
        urls: ['https://control:9131'],
        identityFile: '/s/identity.json',
        enrolmentTokenFile: '/e/token',
        now: day(10),
      },
      ...{ certificate: { from: day(1), to: day(31) }, answers: [answered], ...more },
    })
  const enrol = 'put the TOKEN of "spout token create $(hostname)" into /e/token; systemctl restart spout-agent'

  test('certificate', () => {
    expectLines(judge({}), [])
    expectLines(judge({ certificate: null, answers: [] }), [
      `NotEnrolled | /s/identity.json | The node is not enrolled. | ${enrol}`,
    ])
    expectLines(judge({ now: new Date(Date.UTC(2025, 0, 1)) }), [
      'CertificateExpired | /s/identity.json | The certificate is valid from 2026-01-01T00:00:00.000Z, and the clock says 2025-01-01T00:00:00.000Z. | timedatectl set-ntp true',
    ])
    expectLines(judge({ now: day(32) }), [
      `CertificateExpired | /s/identity.json | The certificate ended 2026-01-31T00:00:00.000Z, and the clock says 2026-02-01T00:00:00.000Z. | rm /s/identity.json; ${enrol}`,
    ])
    expectLines(judge({ now: day(24) }), [
      'CertificateNotRenewed | /s/identity.json | The certificate ends 2026-01-31T00:00:00.000Z and was not renewed. | systemctl restart spout-agent',
    ])
  })

  test('answer', () => {
    expectLines(judge({ answers: [{ url, outcome: 'silent', error: 'connect ECONNREFUSED' }] }), [
      'ControlPlaneSilent | https://control:9131 | connect ECONNREFUSED. | openssl s_client -connect control:9131',
    ])
    expectLines(
      judge({ answers: [{ url, outcome: 'refused', error: 'the certificate is not that of a known node' }] }),
      [
        `NodeRefused | https://control:9131 | the certificate is not that of a known node. | rm /s/identity.json; ${enrol}`,
      ],
    )
    expectLines(judge({ answers: [{ url, outcome: 'distrusted', error: 'self-signed certificate' }] }), [
      `ControlPlaneDistrusted | https://control:9131 | self-signed certificate. | on the control plane: its name control belongs into agentLink.names; if it has a new state: rm /s/identity.json; ${enrol}`,
    ])
  })

  test('of several, those that do not lead are silent', () => {
    const silent: LinkAnswer = { url: 'https://other:9131', outcome: 'silent', error: 'connect ECONNREFUSED' }
    expectLines(judge({ answers: [silent, answered] }), [])
    expectLines(judge({ answers: [silent, { ...silent, url }] }), [
      'ControlPlaneSilent | https://other:9131 | connect ECONNREFUSED. | openssl s_client -connect other:9131',
      'ControlPlaneSilent | https://control:9131 | connect ECONNREFUSED. | openssl s_client -connect control:9131',
    ])
    const distrusted: LinkAnswer = { url, outcome: 'distrusted', error: 'self-signed certificate' }
    expect(judge({ answers: [distrusted, answered] }).map(({ code }) => code)).toEqual(['ControlPlaneDistrusted'])
  })

  test('a node with the work of its own settings alone needs none', () => {
    expectLines(judge({ urls: [], certificate: null, answers: [] }), [])
  })
})

test('agent', () => {
  expectLines(judgeAgentProcess({ pid: 7, stateFile: '/s/entries.journal' }), [])
  expectLines(judgeAgentProcess({ pid: null, stateFile: '/s/entries.journal' }), [
    'AgentStopped | - | No process has /s/entries.journal open. | systemctl start spout-agent',
  ])
})

// Last: it looks at what the others have shown.
test('every finding is shown above, and its code is of one check', () => {
  const codes = NODE_CHECKS.flatMap(({ catalogue }) => Object.keys(catalogue))
  expect(codes).toEqual([...new Set(codes)])
  expect([...shown].sort()).toEqual([...codes].sort())
})
