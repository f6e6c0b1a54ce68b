import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'

export interface SysctlReading {
  /** By name as `sysctl` prints it. */
  readonly values: Readonly<Record<string, string>>
  readonly fabric: string
  /** The namespace that they are in; null for the node's own. */
  readonly namespace: string | null
  /** Whether IPv6 VIPs are proxied neighbours. */
  readonly proxiesNeighbours: boolean
}

/** The parameter of an interface, as `sysctl` takes and prints it: a dot in the interface's name is a slash. */
export const ofLink = (family: 'ipv4' | 'ipv6', link: string, parameter: string): string =>
  `net.${family}.conf.${link.replaceAll('.', '/')}.${parameter}`

/** Parameters of the namespace that faces the fabric. One that the kernel does not have is left out. */
export async function readSysctls({ config }: NodePlace): Promise<SysctlReading> {
  const namespace = config.rootNamespace ?? null
  const fabric = config.fabricInterface
  const names = [
    ...['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding'],
    ...['all', fabric].map((link) => ofLink('ipv6', link, 'proxy_ndp')),
  ]
  const printed = await runIn(namespace, ['sysctl', '-e', ...names])
  const values = Object.fromEntries(
    printed
      .split('\n')
      .map((line) => line.split(' = '))
      .filter((pair): pair is [string, string] => pair.length === 2),
  )
  const proxied = await runIn(namespace, ['ip', '-6', 'neighbour', 'show', 'proxy', 'dev', fabric])
  return { values, fabric, namespace, proxiesNeighbours: proxied.trim() !== '' }
}
