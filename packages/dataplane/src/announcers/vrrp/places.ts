import { existsSync } from 'node:fs'
import { HelperError, type NativeHelper } from '@spout/sys'
import type { Announcement } from '../../announcer.ts'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { domainNames, SEGMENT } from '../../domain/domain-names.ts'
import type { MoverRow } from './mover-table.ts'

/** Where an announced address is bound, as the mover is told; an error in words when it cannot be. */
export function rowOf(
  config: DomainConfig,
  routers: ReadonlyMap<number, number>,
  { address, scope, domain, by }: Announcement,
): MoverRow | string {
  if (by.via !== 'vrrp') return `announced via ${by.via}, not vrrp`
  if (routers.size === 0) return 'VRRP is not configured on this node'
  if (!routers.has(by.shard)) return `shard ${by.shard} is none of this node's shards`
  if (scope === 'fabric') return { shard: by.shard, address, netns: null, dev: config.fabricInterface }
  const { netns } = domainNames(config, domain)
  if (!existsSync(netns)) return `domain ${domain} is not on this node`
  return { shard: by.shard, address, netns, dev: SEGMENT }
}

/** Those of the rows whose address is bound now, as the kernel says. */
export async function boundRows(
  config: DomainConfig,
  helper: NativeHelper,
  rows: readonly MoverRow[],
): Promise<ReadonlySet<MoverRow>> {
  const bound = new Set<MoverRow>()
  for (const { netns, dev, group } of byPlace(rows)) {
    const there = new Set(await addresses(helper, { netns: netns ?? rootNetns(config), dev }))
    for (const row of group) if (there.has(row.address)) bound.add(row)
  }
  return bound
}

/** Takes the addresses of these rows away where no mover does it. What is absent already is no error. */
export async function sweepRows(config: DomainConfig, helper: NativeHelper, rows: readonly MoverRow[]): Promise<void> {
  const bound = await boundRows(config, helper, rows)
  for (const { netns, dev, group } of byPlace([...bound])) {
    const changes = group.map(({ address }) => ({
      do: 'delete' as const,
      dev,
      address,
      prefix: address.includes(':') ? 128 : 32,
    }))
    await helper.addr({ netns: netns ?? rootNetns(config), changes })
  }
}

interface Place {
  readonly netns: string | null
  readonly dev: string
  readonly group: MoverRow[]
}

function byPlace(rows: readonly MoverRow[]): readonly Place[] {
  const places = new Map<string, Place>()
  for (const row of rows) {
    const name = `${row.netns ?? ''} ${row.dev}`
    const place = places.get(name) ?? { netns: row.netns, dev: row.dev, group: [] }
    place.group.push(row)
    places.set(name, place)
  }
  return [...places.values()]
}

async function addresses(
  helper: NativeHelper,
  at: { readonly netns: string | undefined; readonly dev: string },
): Promise<readonly string[]> {
  try {
    return (await helper.addrList(at)).map(({ address }) => address)
  } catch (error) {
    // An interface or domain that is gone holds nothing.
    if (error instanceof HelperError && (error.errno === 'ENODEV' || error.errno === 'ENOENT')) return []
    throw error
  }
}
