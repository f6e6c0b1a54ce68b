import { existsSync } from 'node:fs'
import { HelperError, type NativeHelper } from '@spout/sys'
import type { Announcement } from '../../contracts/announcer.ts'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { domainNames, SEGMENT } from '../../domain/domain-names.ts'
import { addressesOn, markOf } from '../bound-addresses.ts'
import type { MoverRow } from './mover-table.ts'

/** The mover's row for an announcement, or an error text if it cannot be bound. */
export function rowOf(
  config: DomainConfig,
  routers: ReadonlyMap<number, number>,
  announcement: Announcement,
): MoverRow | string {
  const { domain, by } = announcement
  const row = placeOf(config, announcement)
  if (row === null) return `announced via ${by.via}, not vrrp`
  if (routers.size === 0) return 'VRRP is not configured on this node'
  if (!routers.has(row.shard)) return `shard ${row.shard} is none of this node's shards`
  if (row.netns !== null && !existsSync(row.netns)) return `domain ${domain} is not on this node`
  return row
}

/** The row of an announcement, even if it cannot be bound now; null for one that VRRP does not announce. */
export function placeOf(config: DomainConfig, { address, scope, domain, by }: Announcement): MoverRow | null {
  if (by.via !== 'vrrp') return null
  if (scope === 'fabric') return { shard: by.shard, address, netns: null, dev: config.fabricInterface }
  return { shard: by.shard, address, netns: domainNames(config, domain).netns, dev: SEGMENT }
}

/** Rows whose address is bound now. */
export async function boundRows(
  config: DomainConfig,
  helper: NativeHelper,
  rows: readonly MoverRow[],
): Promise<ReadonlySet<MoverRow>> {
  const bound = new Set<MoverRow>()
  for (const { netns, dev, group } of byPlace(rows)) {
    const at = { netns: netns ?? rootNetns(config), dev }
    const there = await addressesOn(helper, at)
    const proxied = group.some(({ address }) => isIpv6(address)) ? await proxiedOn(helper, at) : NONE
    for (const row of group) if (there.has(row.address) || proxied.has(row.address)) bound.add(row)
  }
  return bound
}

/** Change marks of the namespaces of rows. While they stay the same, bound addresses stay bound. */
export async function marksOf(
  config: DomainConfig,
  helper: NativeHelper,
  netnses: ReadonlySet<MoverRow['netns']>,
): Promise<string> {
  const marks = Array.from(
    netnses,
    async (netns) => `${netns ?? ''} ${await markOf(helper, netns ?? rootNetns(config))}`,
  )
  return (await Promise.all(marks)).join()
}

const LOCAL_TABLE = 255
const NONE: ReadonlySet<string> = new Set()
const isIpv6 = (address: string): boolean => address.includes(':')

/** Addresses that the mover proxies without binding them: local routes on the interface. */
async function proxiedOn(
  helper: NativeHelper,
  { netns, dev }: { readonly netns: string | undefined; readonly dev: string },
): Promise<ReadonlySet<string>> {
  try {
    const routes = await helper.routeList({ netns, table: LOCAL_TABLE })
    const ours = routes.filter((route) => route.dev === dev && route.type === 'local' && route.to.endsWith('/128'))
    return new Set(ours.map(({ to }) => to.slice(0, -'/128'.length)))
  } catch (error) {
    if (error instanceof HelperError && error.errno === 'ENOENT') return NONE
    throw error
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
