import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { ofLink, readSysctls, type SysctlReading } from '../readings/sysctls.ts'

const FINDINGS = {
  StrictReversePath: {
    level: 'error',
    what: '`rp_filter` is 1 for all interfaces, for new ones, or for an uplink to a tenant network',
    why: 'Answers come out of a tenant network with the VIP as their source. The kernel has no route back to the VIP through the uplink, so it drops them.',
    fix: '`sysctl -w net.ipv4.conf.all.rp_filter=0`',
  },
  ForwardingOff: {
    level: 'error',
    what: '`net.ipv4.ip_forward` is 0',
    why: 'The agent sets it when it starts; something has set it back. Answers to clients of IPv4 are not forwarded.',
    fix: '`sysctl -w net.ipv4.ip_forward=1`',
  },
  Forwarding6Off: {
    level: 'error',
    what: '`net.ipv6.conf.all.forwarding` is 0',
    why: 'The agent sets it when it starts; something has set it back. Answers to clients of IPv6 are not forwarded, and solicitations for IPv6 VIPs not answered.',
    fix: '`sysctl -w net.ipv6.conf.all.forwarding=1`',
  },
  ArpIgnored: {
    level: 'error',
    what: '`arp_ignore` is 2 or more for the fabric interface',
    why: 'A VIP has a prefix of /32, so no asker is in its subnet: the kernel answers no ARP request for it, and neighbours lose it when their entry ends.',
    fix: '`sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.INTERFACE.arp_ignore=1`',
  },
  NeighbourProxyOff: {
    level: 'error',
    what: '`proxy_ndp` is 0 for the fabric interface of a node that announces IPv6 VIPs of VRRP shards',
    why: 'These VIPs are proxied neighbours: the kernel answers no solicitation for them.',
    fix: '`sysctl -w net.ipv6.conf.INTERFACE.proxy_ndp=1`',
  },
} as const satisfies Catalogue

export function judgeSysctls(reading: SysctlReading): readonly Found<keyof typeof FINDINGS>[] {
  return [...strictReversePath(reading), ...forwarding(reading), ...arp(reading), ...neighbourProxy(reading)]
}

const values = (names: readonly string[], { values }: SysctlReading): string =>
  names.map((name) => `${name} is ${values[name]}`).join(', ')
const setting = (names: readonly string[], value: number, { namespace }: SysctlReading): string =>
  [
    ...(namespace === null ? [] : ['ip netns exec', namespace]),
    ...['sysctl -w', ...names.map((name) => `${name}=${value}`)],
  ].join(' ')

function strictReversePath(reading: SysctlReading): readonly Found<'StrictReversePath'>[] {
  const strict = ['all', 'default', ...reading.uplinks]
    .map((link) => ofLink('ipv4', link, 'rp_filter'))
    .filter((name) => reading.values[name] === '1')
  if (strict.length === 0) return []
  const message = `${values(strict, reading)}.`
  return [{ code: 'StrictReversePath', subject: null, message, fix: setting(strict, 0, reading) }]
}

function forwarding(reading: SysctlReading): readonly Found<'ForwardingOff' | 'Forwarding6Off'>[] {
  const off = (code: 'ForwardingOff' | 'Forwarding6Off', name: string) =>
    reading.values[name] === '0'
      ? [{ code, subject: null, message: `${name} is 0.`, fix: setting([name], 1, reading) }]
      : []
  return [...off('ForwardingOff', 'net.ipv4.ip_forward'), ...off('Forwarding6Off', 'net.ipv6.conf.all.forwarding')]
}

/** The kernel takes the larger of both values. */
function arp(reading: SysctlReading): readonly Found<'ArpIgnored'>[] {
  const ignoring = ['all', reading.fabric]
    .map((link) => ofLink('ipv4', link, 'arp_ignore'))
    .filter((name) => Number(reading.values[name] ?? 0) >= 2)
  if (ignoring.length === 0) return []
  const message = `${values(ignoring, reading)}.`
  return [{ code: 'ArpIgnored', subject: reading.fabric, message, fix: setting(ignoring, 1, reading) }]
}

/** One of both values is enough for the kernel. */
function neighbourProxy(reading: SysctlReading): readonly Found<'NeighbourProxyOff'>[] {
  const names = ['all', reading.fabric].map((link) => ofLink('ipv6', link, 'proxy_ndp'))
  if (!reading.proxiesNeighbours || names.some((name) => reading.values[name] !== '0')) return []
  const fix = setting(names.slice(1), 1, reading)
  return [{ code: 'NeighbourProxyOff', subject: reading.fabric, message: `${values(names, reading)}.`, fix }]
}

export const sysctls = checkOf({
  name: 'sysctls',
  catalogue: FINDINGS,
  read: readSysctls,
  judge: judgeSysctls,
  right: () => 'Reverse path filter, forwarding, and answers to ARP and neighbour discovery are as they must be.',
})
