import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { ofLink, readSysctls, type SysctlReading } from '../readings/sysctls.ts'

const FINDINGS = {
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
  NeighbourProxyOff: {
    level: 'error',
    what: '`proxy_ndp` is 0 for the fabric interface of a node that announces IPv6 VIPs of VRRP shards',
    why: 'These VIPs are proxied neighbours: the kernel answers no solicitation for them.',
    fix: '`sysctl -w net.ipv6.conf.INTERFACE.proxy_ndp=1`',
  },
} as const satisfies Catalogue

export function judgeSysctls(reading: SysctlReading): readonly Found<keyof typeof FINDINGS>[] {
  return [...forwarding(reading), ...neighbourProxy(reading)]
}

const values = (names: readonly string[], { values }: SysctlReading): string =>
  names.map((name) => `${name} is ${values[name]}`).join(', ')
const setting = (names: readonly string[], value: number, { namespace }: SysctlReading): string =>
  [
    ...(namespace === null ? [] : ['ip netns exec', namespace]),
    ...['sysctl -w', ...names.map((name) => `${name}=${value}`)],
  ].join(' ')

function forwarding(reading: SysctlReading): readonly Found<'ForwardingOff' | 'Forwarding6Off'>[] {
  const off = (code: 'ForwardingOff' | 'Forwarding6Off', name: string) =>
    reading.values[name] === '0'
      ? [{ code, subject: null, message: `${name} is 0.`, fix: setting([name], 1, reading) }]
      : []
  return [...off('ForwardingOff', 'net.ipv4.ip_forward'), ...off('Forwarding6Off', 'net.ipv6.conf.all.forwarding')]
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
  right: () => 'Forwarding, and answers to neighbour discovery, are as they must be.',
})
