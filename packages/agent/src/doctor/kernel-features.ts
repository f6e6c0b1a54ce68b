/** Something of the kernel that the data plane uses, and how to ask for it in a namespace of its own. */
export type KernelFeature = {
  readonly name: string
  /** Without it. */
  readonly lost: string
  /** The module that has it. */
  readonly module: string
  /** Whether everything needs it, or only some load balancers. */
  readonly needed: 'always' | 'sometimes'
} & (
  | { readonly rules: readonly string[] }
  /** Lines of `ip -batch`. */
  | { readonly links: readonly string[] }
)

const chainIn = (
  family: 'inet' | 'ip' | 'ip6',
  name: string,
  hook: string,
  ...rules: readonly string[]
): readonly string[] => [
  `table ${family} ${name} {`,
  '  chain c {',
  `    type ${hook};`,
  ...rules.map((rule) => `    ${rule}`),
  '  }',
  '}',
]
const inet = (name: string, hook: string, ...rules: readonly string[]): readonly string[] =>
  chainIn('inet', name, hook, ...rules)
const PREROUTING = 'filter hook prerouting priority mangle'

/** By what load balancers need of the kernel: rooms `domain`, `drivers/nftables` and `steering` of the data plane. */
export const KERNEL_FEATURES: readonly KernelFeature[] = [
  {
    ...{ name: 'maps of several fields', module: 'nf_tables', needed: 'always', lost: 'nothing is balanced' },
    rules: ['table inet t1 { map m { type ipv4_addr . inet_proto . inet_service : mark; }; }'],
  },
  {
    ...{ name: 'hashes', module: 'nft_hash', needed: 'always', lost: 'no listener of TCP, UDP or SCTP is balanced' },
    rules: inet('t2', PREROUTING, 'meta mark set jhash ip saddr . th sport mod 61 seed 0x5'),
  },
  {
    ...{ name: 'connection tracking', module: 'nf_conntrack', needed: 'always', lost: 'nothing is translated' },
    rules: inet('t3', PREROUTING, 'ct state new ct mark set 1'),
  },
  {
    ...{ name: 'address translation', module: 'nft_chain_nat', needed: 'always', lost: 'nothing is translated' },
    rules: inet('t4', 'nat hook prerouting priority dstnat', 'dnat ip to 192.0.2.1'),
  },
  {
    ...{ name: 'masquerading', module: 'nft_masq', needed: 'sometimes', lost: 'no members behind routes of the node' },
    rules: inet('t5', 'nat hook postrouting priority srcnat', 'masquerade'),
  },
  {
    ...{ name: 'transparent proxying', module: 'nft_tproxy', needed: 'always', lost: 'no HTTP, HTTPS or TLS listener' },
    rules: inet('t6', PREROUTING, 'meta l4proto tcp tproxy ip to 127.0.0.1:20000'),
  },
  {
    ...{ name: 'look-up of sockets', module: 'nft_socket', needed: 'always', lost: 'no HTTP, HTTPS or TLS listener' },
    rules: inet('t7', PREROUTING, 'socket transparent 1 accept'),
  },
  {
    ...{ name: 'limits', module: 'nft_limit', needed: 'always', lost: 'tenant networks are not kept to their shares' },
    rules: inet('t8', PREROUTING, 'limit rate over 1000/second drop'),
  },
  {
    ...{ name: 'limits of connections', module: 'nft_connlimit', needed: 'sometimes', lost: 'no limits of listeners' },
    rules: inet('t9', PREROUTING, 'ct count over 10 drop'),
  },
  {
    ...{
      name: 'rejection',
      module: 'nft_reject_inet',
      needed: 'always',
      lost: 'clients wait instead of being refused',
    },
    rules: inet('t10', 'filter hook input priority filter', 'reject with tcp reset'),
  },
  {
    ...{
      name: 'routes in rules',
      module: 'nft_fib_inet',
      needed: 'always',
      lost: 'the guard of tenant networks is refused',
    },
    rules: inet('t11', PREROUTING, 'fib daddr type local accept'),
  },
  {
    ...{ name: 'copies of packets', module: 'nft_dup_ipv4', needed: 'sometimes', lost: 'no return path node' },
    rules: [
      ...chainIn('ip', 't13', PREROUTING, 'dup to 192.0.2.1'),
      ...chainIn('ip6', 't13', PREROUTING, 'dup to fd00::1'),
    ],
  },
  {
    ...{ name: 'virtual pairs', module: 'veth', needed: 'always', lost: 'no tenant network has an uplink' },
    links: ['link add name v0 type veth peer name v1', 'link set dev v0 up', 'link set dev v1 up'],
  },
  {
    ...{
      name: 'hook at ingress',
      module: 'nf_tables',
      needed: 'always',
      lost: 'VIPs are not led into tenant networks',
    },
    rules: ['table netdev t12 { chain c { type filter hook ingress device "v0" priority 0; }; }'],
  },
  {
    ...{
      name: 'forwarding at ingress',
      module: 'nft_fwd_netdev',
      needed: 'always',
      lost: 'VIPs are not led into tenant networks',
    },
    rules: ['table netdev t13 { chain c { type filter hook ingress device "v0" priority 1; fwd to "v1"; }; }'],
  },
  {
    ...{ name: 'MAC VLANs', module: 'macvlan', needed: 'sometimes', lost: 'no network on a segment without a tag' },
    links: ['link add link v0 name m0 type macvlan mode bridge'],
  },
  {
    ...{ name: 'VLANs', module: '8021q', needed: 'sometimes', lost: 'no network on a segment with a tag' },
    links: ['link add link v0 name l0 type vlan id 5'],
  },
  {
    ...{
      name: 'VXLAN',
      module: 'vxlan',
      needed: 'sometimes',
      lost: 'no members behind routers, and no return path node',
    },
    links: ['link add name x0 type vxlan id 5 local 127.0.0.1 dstport 4789 nolearning'],
  },
  {
    ...{ name: 'SCTP', module: 'nf_conntrack', needed: 'sometimes', lost: 'no SCTP listener' },
    rules: inet('t14', PREROUTING, 'meta l4proto sctp ct state new sctp dport 5 accept'),
  },
]
