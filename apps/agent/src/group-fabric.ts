import type { FabricVerdict, GroupFabric, NamedFabric } from '@spout/agent'
import { execOk, findLink } from '@spout/sys'
import type { AgentConfig } from './config.ts'
import { findFabricInterface, type IpAddressRow, interfaceThatReaches, ipIn } from './fabric-interface.ts'
import { changeFabricRecord, type FabricRecord } from './fabric-record.ts'
import { hasLocalWork } from './link-urls.ts'

type Settings = Pick<AgentConfig, 'fabric' | 'local'>

/** The interface that an agent is composed for. */
export interface ComposedFabric {
  readonly interface: string
  readonly named: NamedFabric
  readonly verdict: FabricVerdict
}

/**
 * Whether the agent's own settings choose the interface. The addresses of `local` are on it, so with them no group moves
 * the agent to another one.
 */
export const isOwnChoice = (config: Settings): boolean =>
  config.fabric.interface !== '' || config.fabric.reaches !== undefined || hasLocalWork(config)

/**
 * Finds the interface: by the agent's own settings, by what its group named last, or by the node's address. If the node
 * lacks the one that its group named, the agent is composed for one on which it announces nothing.
 * @throws Error if there is none at all
 */
export async function composeFabric(config: Settings, record: FabricRecord): Promise<ComposedFabric> {
  const named = isOwnChoice(config) ? null : record.group
  try {
    return { interface: await interfaceOf(config, named), named, verdict: { state: 'here' } }
  } catch (error) {
    if (named === null) throw error
    const other = record.interface ?? (await findFabricInterface(config.fabric))
    return { interface: other, named, verdict: { state: 'missing', reason: messageOf(error) } }
  }
}

/** @throws Error if the node has no such interface, with what the settings or the group named */
async function interfaceOf({ fabric }: Settings, named: NamedFabric): Promise<string> {
  if (named === null) return findFabricInterface(fabric)
  const { interface: name, reaches } = named
  if (name === undefined) return interfaceThatReaches(reaches ?? '', ipIn(fabric))
  if ((await findLink({ netns: fabric.namespace || null, name })) === null)
    throw new Error(`the node has no interface ${name}`)
  return name
}

/**
 * The fabric of the node's group, for an agent that is composed for `composed`. If its own settings choose, it is there
 * whatever the group names.
 * @param file where the next agent finds what the group named
 */
export function groupFabric(
  config: Settings,
  file: string,
  composed: ComposedFabric,
  onElsewhere: () => void,
): GroupFabric {
  return {
    composed,
    judge: async (named) => {
      if (isOwnChoice(config)) return { state: 'here' }
      await changeFabricRecord(file, { group: named })
      try {
        return { state: (await interfaceOf(config, named)) === composed.interface ? 'here' : 'elsewhere' }
      } catch (error) {
        return { state: 'missing', reason: messageOf(error) }
      }
    },
    elsewhere: async (address) => {
      const rows = JSON.parse(await execOk([...ipIn(config.fabric), 'address', 'show'])) as readonly IpAddressRow[]
      const holders = rows.filter(({ addr_info }) => addr_info.some(({ local }) => local === address))
      if (holders.some(({ ifname }) => ifname === composed.interface)) return null
      return holders[0]?.ifname ?? null
    },
    onElsewhere,
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
