import { exec, execOk } from '@spout/sys'
import type { AgentConfig } from './config.ts'

/** An interface in the output of `ip -json address`. */
export interface IpAddressRow {
  readonly ifname: string
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly family: string }[]
}

interface IpRouteRow {
  readonly dev: string
  /** Such as `local` for an address of this machine. Absent for `unicast`. */
  readonly type?: string
  /** The next router; `via` has one of the other family. Absent in a network that the interface is in. */
  readonly gateway?: string
  readonly via?: object
}

/** `ip` in the namespace that faces the fabric. */
export const ipIn = ({ namespace }: Pick<AgentConfig['fabric'], 'namespace'>): readonly [string, ...string[]] => [
  'ip',
  ...(namespace === '' ? [] : ['-n', namespace]),
  '-json',
]

/**
 * Finds the fabric interface: the one in the settings, the one in whose network an address is, or the one that has the
 * node's own address, since nodes of a cluster may name their interfaces differently.
 * @throws Error if the settings give none of them, or no interface is found by them
 */
export async function findFabricInterface({
  interface: name,
  reaches,
  address,
  namespace,
}: AgentConfig['fabric']): Promise<string> {
  if (name !== '') return name
  const ip = ipIn({ namespace })
  if (reaches !== undefined) return interfaceThatReaches(reaches, ip)
  if (address === '')
    throw new Error(
      'fabric.interface: is empty, and so are fabric.reaches and fabric.address, by which it would be found',
    )
  const rows = JSON.parse(await execOk([...ip, 'address', 'show'])) as readonly IpAddressRow[]
  const found = rows.find(({ addr_info }) =>
    // A leftover VIP has a host prefix, unlike the node's own address.
    addr_info.some((one) => one.local === address && one.prefixlen < (one.family === 'inet' ? 32 : 128)),
  )
  const any = found ?? rows.find(({ addr_info }) => addr_info.some((one) => one.local === address))
  if (any === undefined) throw new Error(`fabric.address: no interface has ${address}`)
  return any.ifname
}

/**
 * The interface in whose network the address is. @throws Error naming why there is none
 *
 * A route through a router does not count. While the link is down, such a route may be all that is left: an agent that
 * starts then would announce over another interface.
 */
export async function interfaceThatReaches(address: string, ip: readonly [string, ...string[]]): Promise<string> {
  const { code, stdout, stderr } = await exec([...ip, 'route', 'get', address])
  const [route] = code === 0 ? (JSON.parse(stdout) as readonly IpRouteRow[]) : []
  if (route === undefined)
    throw new Error(`fabric.reaches: no interface is in a network with ${address}: ${stderr.trim()}`)
  if ((route.type ?? 'unicast') !== 'unicast')
    throw new Error(
      `fabric.reaches: ${address} is ${route.type} here: name one of another machine, such as the router's`,
    )
  if (route.gateway !== undefined || route.via !== undefined)
    throw new Error(`fabric.reaches: ${address} is behind a router: name one in the network of the interface`)
  return route.dev
}
