import { execOk } from '@spout/sys'
import type { AgentConfig } from './config.ts'

interface IpAddressRow {
  readonly ifname: string
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly family: string }[]
}

/**
 * Finds the fabric interface: the one in the settings, or the one that has the node's own address, since nodes of a
 * cluster may name their interfaces differently.
 * @throws Error if the settings give neither, or no interface has the address
 */
export async function findFabricInterface({
  interface: name,
  address,
  namespace,
}: AgentConfig['fabric']): Promise<string> {
  if (name !== '') return name
  if (address === '')
    throw new Error('fabric.interface: is empty, and so is fabric.address, by which it would be found')
  const inside = namespace === '' ? [] : ['-n', namespace]
  const rows = JSON.parse(await execOk(['ip', ...inside, '-json', 'address', 'show'])) as readonly IpAddressRow[]
  const found = rows.find(({ addr_info }) =>
    // A leftover VIP has a host prefix, unlike the node's own address.
    addr_info.some((one) => one.local === address && one.prefixlen < (one.family === 'inet' ? 32 : 128)),
  )
  const any = found ?? rows.find(({ addr_info }) => addr_info.some((one) => one.local === address))
  if (any === undefined) throw new Error(`fabric.address: no interface has ${address}`)
  return any.ifname
}
