import type { BgpAdvertisementSpec } from '@spout/custom-resources'
import { bgpAdvertisement } from '@spout/model'
import { selects } from './kinds.ts'
import { shown } from './manifest.ts'
import type { ConvertedPool } from './pools.ts'
import { type Note, noteOf, type Source } from './source.ts'

export interface ConvertedAdvertisement {
  readonly source: Source<'BGPAdvertisement'>
  /** Null: nothing is left to convert; a note says why. */
  readonly spec: BgpAdvertisementSpec | null
  readonly notes: readonly Note[]
}

const communityText = bgpAdvertisement.shape.communities.unwrap().element
const LEAST_AGGREGATE = { 4: 8, 6: 16 } as const

/** Here a pool has one advertisement, and one for all pools applies to those that no other names. */
export function convertAdvertisements(
  sources: readonly Source<'BGPAdvertisement'>[],
  pools: readonly ConvertedPool[],
  peers: ReadonlySet<string>,
  aliases: ReadonlyMap<string, string>,
): readonly ConvertedAdvertisement[] {
  const taken = new Map<string, string>()
  let restOf: string | null = null
  return sources.map((source) => {
    const { spec, manifest } = source
    const notes: Note[] = []
    const note = (field: string | null, text: string): void =>
      void notes.push(noteOf(source, field && `spec.${field}`, text))
    const left = (field: string | null, text: string): ConvertedAdvertisement => {
      note(field, text)
      return { source, spec: null, notes }
    }
    for (const field of ['nodeSelectors', 'serviceSelectors'] as const)
      if ((spec[field] ?? []).length > 0)
        note(field, 'no equivalent: every node of the group announces all addresses of the pools')
    const settings = settingsOf(source, aliases, note)
    const named = peersOf(source, peers, note)
    if (named?.length === 0) return left('peers', 'none of them is left: the advertisement is left out')
    if (Object.keys(settings).length === 0 && named === null)
      return left(null, 'says nothing but that addresses are announced, which needs no object here')
    const selected = poolsOf(source, pools, note)
    if (selected === null) {
      if (restOf !== null) return left('ipAddressPools', `${restOf} is for all pools already: left out`)
      restOf = manifest.name
      if (sources.length > 1)
        note('ipAddressPools', 'is for all pools: here for those that no other advertisement names')
      return { source, spec: { ...settings, ...(named === null ? {} : { peers: named }) }, notes }
    }
    const free = selected.filter((name) => !taken.has(name))
    for (const name of selected)
      if (taken.has(name))
        note(
          'ipAddressPools',
          `${name} has advertisement ${taken.get(name)} already, a pool has one: left out of this one`,
        )
    if (free.length === 0) return left('ipAddressPools', 'no pool is left: the advertisement is left out')
    for (const name of free) taken.set(name, manifest.name)
    return { source, spec: { addressPools: free, ...settings, ...(named === null ? {} : { peers: named }) }, notes }
  })
}

type Say = (field: string, text: string) => void

function settingsOf(
  { spec }: Source<'BGPAdvertisement'>,
  aliases: ReadonlyMap<string, string>,
  note: Say,
): BgpAdvertisementSpec {
  const settings: { -readonly [K in keyof BgpAdvertisementSpec]: BgpAdvertisementSpec[K] } = {}
  const communities = (spec.communities ?? []).flatMap((text, index) => {
    const value = (aliases.get(text) ?? text).replace(/^large:/, '')
    const checked = communityText.safeParse(value)
    if (checked.success) return [checked.data]
    const why = checked.error.issues[0]?.message ?? 'is no community'
    note(`communities[${index}]`, `${shown(text)} ${aliases.has(text) ? `(${shown(value)}) ` : ''}${why}: left out`)
    return []
  })
  if (communities.length > 0) settings.communities = communities
  if (spec.localPref) settings.localPref = spec.localPref
  for (const [field, version, host] of [
    ['aggregationLength', 4, 32],
    ['aggregationLengthV6', 6, 128],
  ] as const) {
    const length = spec[field]
    if (length === null || length === undefined || length === host) continue
    if (length < LEAST_AGGREGATE[version]) note(field, `is less than ${LEAST_AGGREGATE[version]}: left out`)
    else settings[field] = length
  }
  return settings
}

/** Null: all peers. */
function peersOf({ spec }: Source<'BGPAdvertisement'>, known: ReadonlySet<string>, note: Say): string[] | null {
  const { peers } = spec
  if (!peers || peers.length === 0) return null
  for (const [index, name] of peers.entries())
    if (!known.has(name)) note(`peers[${index}]`, `${shown(name)} is not among the peers that were made: left out`)
  return peers.filter((name) => known.has(name))
}

/** Names of pools here; null: all pools. */
function poolsOf(
  { spec }: Source<'BGPAdvertisement'>,
  pools: readonly ConvertedPool[],
  note: Say,
): readonly string[] | null {
  const names = spec.ipAddressPools ?? []
  const selectors = spec.ipAddressPoolSelectors ?? []
  if (names.length + selectors.length === 0) return null
  const known = new Set(pools.map(({ source }) => source.manifest.name))
  for (const [index, name] of names.entries())
    if (!known.has(name)) note(`ipAddressPools[${index}]`, `${shown(name)} is not among what was read: left out`)
  if (selectors.length > 0) note('ipAddressPoolSelectors', 'selected now: pools that are made later are not added')
  return pools
    .filter(
      ({ source: { manifest } }) =>
        names.includes(manifest.name) || selectors.some((selector) => selects(selector, manifest.labels)),
    )
    .map(({ name }) => name)
}
