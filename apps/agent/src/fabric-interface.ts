import { execOk } from '@spout/sys'
import type { AgentConfig } from './config.ts'

interface IpAddressRow {
  readonly ifname: string
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly family: string }[]
}

/**
 * The interface that the settings name, or else the one that has the node's own address: nodes of a cluster need not call
 * theirs alike.
 * @throws Error when nothing is said, or no interface has the address
 */
export async function findFabricInterface({
  interface: name,
  address,
  namespace,
}: AgentConfig['fabric']): Promise<string> {
  if (name !== '') return name
  if (address === '') throw new Error('fabric.interface: is empty, and fabric.address says no address to find it by')
  const inside = namespace === '' ? [] : ['-n', namespace]
  const rows = JSON.parse(await execOk(['ip', ...inside, '-json', 'address', 'show'])) as readonly IpAddressRow[]
  const found = rows.find(({ addr_info }) =>
    // A VIP that was left behind has the prefix of a host; the node's own address has not.
    addr_info.some((one) => one.local === address && one.prefixlen < (one.family === 'inet' ? 32 : 128)),
  )
  const any = found ?? rows.find(({ addr_info }) => addr_info.some((one) => one.local === address))
  if (any === undefined) throw new Error(`fabric.address: no interface has ${address}`)
  return any.ifname
}
