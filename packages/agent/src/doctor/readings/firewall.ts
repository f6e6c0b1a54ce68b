import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** A statement of a rule as nft prints it (man 5 libnftables-json), as far as it is read here. */
export interface NftStatement {
  readonly match?: { readonly op: string; readonly left: unknown; readonly right: unknown }
  readonly accept?: null
  readonly jump?: { readonly target: string }
  readonly goto?: { readonly target: string }
}

/** A base chain of somebody else's that may drop what the node needs. */
export interface ForeignChain {
  readonly family: string
  readonly table: string
  readonly chain: string
  readonly hook: 'input' | 'forward'
  readonly policy: 'accept' | 'drop'
  /** Its rules, and those of the chains that it leads to. */
  readonly rules: readonly (readonly NftStatement[])[]
}

export interface FirewallReading {
  readonly chains: readonly ForeignChain[]
  readonly instance: string
  readonly fabric: string
  readonly namespace: string | null
  /** Whether the node takes part in VRRP. */
  readonly speaksVrrp: boolean
}

interface NftObject {
  readonly chain?: {
    readonly family: string
    readonly table: string
    readonly name: string
    readonly hook?: string
    readonly policy?: string
  }
  readonly rule?: NftRule
}

interface NftRule {
  readonly family: string
  readonly table: string
  readonly chain: string
  readonly expr: readonly NftStatement[]
}

/** Chains of tables that no agent made, in the namespace that faces the fabric. Elements of sets are not listed. */
export async function readFirewall({ config, group }: NodePlace): Promise<FirewallReading> {
  const namespace = config.rootNamespace ?? null
  const argv = ['nft', '--json', '--terse', 'list', 'ruleset'] as const
  const text = await runIn(namespace, argv)
  const objects = (JSON.parse(text) as { readonly nftables: readonly NftObject[] }).nftables
  const rules = objects.flatMap(({ rule }) => rule ?? [])
  const chains = objects.flatMap(({ chain }): readonly ForeignChain[] => {
    if (chain === undefined || /^spout(-|$)/.test(chain.table)) return []
    const { family, table, name, hook, policy = 'accept' } = chain
    if (hook !== 'input' && hook !== 'forward') return []
    if (!['ip', 'ip6', 'inet'].includes(family)) return []
    const ofTable = rules.filter((rule) => rule.family === family && rule.table === table)
    const about = { family, table, chain: name, hook, policy: policy === 'drop' ? 'drop' : 'accept' } as const
    return [{ ...about, rules: reachable(ofTable, name) }]
  })
  return {
    ...{ chains, instance: config.instance, fabric: config.fabricInterface, namespace },
    speaksVrrp: Boolean(group?.vrrp),
  }
}

/** The rules of a chain and of those that it jumps to, in any depth. */
function reachable(rules: readonly NftRule[], first: string): readonly (readonly NftStatement[])[] {
  const chains = new Set([first])
  const found: (readonly NftStatement[])[] = []
  // What is added to a set while it is walked is walked, too.
  for (const chain of chains)
    for (const { expr } of rules.filter((rule) => rule.chain === chain)) {
      found.push(expr)
      for (const { jump, goto } of expr) {
        const target = jump?.target ?? goto?.target
        if (target !== undefined) chains.add(target)
      }
    }
  return found
}
