import { GROUP, VERSION } from '@spout/custom-resources'
import { convertAdvertisements } from './advertisements.ts'
import { BadManifests, type Manifest } from './manifest.ts'
import { convertPeer } from './peers.ts'
import { type ConvertedPool, convertPool, guessedSubnet, poolSpec } from './pools.ts'
import { type Note, noteOf, type Source, type Sources, sourcesOf } from './source.ts'

/** An object to apply, and notes on what it lacks of its origin. */
export interface ConvertedObject {
  readonly apiVersion: string
  readonly kind: 'AddressPool' | 'NodeGroup' | 'BgpPeer' | 'BgpAdvertisement'
  readonly metadata: { readonly name: string }
  readonly spec: object
}

export interface Converted {
  readonly object: ConvertedObject
  /** `pools.yaml, document 1: IPAddressPool lan`, or several. */
  readonly from: readonly string[]
  readonly notes: readonly Note[]
}

export interface Conversion {
  /** In the order of their references. */
  readonly objects: readonly Converted[]
  /** Notes on MetalLB objects that became no object. */
  readonly notes: readonly Note[]
}

/**
 * Converts a MetalLB configuration to our objects. Anything without an equivalent is a note.
 *
 * @throws BadManifests for what MetalLB would not accept either
 */
export function convertMetalLb(manifests: readonly Manifest[]): Conversion {
  const sources = sourcesOf(manifests)
  const pools = allPools(sources)
  const groups = groupsOf(sources)
  const profiles = new Map(sources.of('BFDProfile').map(({ manifest, spec }) => [manifest.name, spec]))
  const peers = sources
    .of('BGPPeer')
    .map((source) => convertPeer(source, profiles, groups.ofAsn.get(source.spec.myASN) ?? ''))
  const kept = new Set(peers.flatMap(({ source, spec }) => (spec === null ? [] : [source.manifest.name])))
  const advertisements = convertAdvertisements(sources.of('BGPAdvertisement'), pools, kept, aliasesOf(sources))
  const objects: Converted[] = [
    ...pools.map((pool): Converted => {
      const longest = Math.min(
        ...advertisements.flatMap(({ spec }) => {
          const length = pool.version === 4 ? spec?.aggregationLength : spec?.aggregationLengthV6
          const isFor = spec?.addressPools === undefined || spec.addressPools.includes(pool.name)
          return length === undefined || !isFor ? [] : [length]
        }),
        128,
      )
      const spec = poolSpec(pool, longest)
      const guess = guessedSubnet(spec)
      return madeOf('AddressPool', pool.name, spec, [pool.source], [...pool.notes, noteOf(pool.source, null, guess)])
    }),
    ...groups.objects,
    ...peers.flatMap(({ source, spec, notes }) =>
      spec === null ? [] : [madeOf('BgpPeer', source.manifest.name, spec, [source], notes)],
    ),
    ...advertisements.flatMap(({ source, spec, notes }) =>
      spec === null ? [] : [madeOf('BgpAdvertisement', source.manifest.name, spec, [source], notes)],
    ),
  ]
  const used = new Set(peers.flatMap(({ source, spec }) => (spec === null ? [] : [source.spec.bfdProfile ?? ''])))
  const idle = sources
    .of('BFDProfile')
    .filter(({ manifest }) => !used.has(manifest.name))
    .map((source) => noteOf(source, null, 'no peer that was made uses it: left out'))
  const without = [...peers, ...advertisements].flatMap(({ spec, notes }) => (spec === null ? notes : []))
  const said = new Set(sources.of('BGPAdvertisement').flatMap(({ spec }) => spec.communities ?? []))
  const unsaid = sources
    .of('Community')
    .filter(({ spec }) => !(spec.communities ?? []).some(({ name }) => said.has(name)))
    .map((source) => noteOf(source, null, 'no advertisement uses a name of it: left out'))
  return attach(objects, [...sources.notes, ...without, ...idle, ...unsaid])
}

/** Reports bad entries of all pools together. */
function allPools(sources: Sources): readonly ConvertedPool[] {
  const bad: string[] = []
  const pools = sources.of('IPAddressPool').flatMap((source) => {
    try {
      return convertPool(source)
    } catch (error) {
      if (!(error instanceof BadManifests)) throw error
      bad.push(...error.lines)
      return []
    }
  })
  const twice = pools.find(({ name }, index) => pools.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined)
    bad.push(
      `${twice.source.manifest.where}: metadata.name: the pool for IPv6 would be ${twice.name}, which is there already`,
    )
  if (bad.length > 0) throw new BadManifests(bad)
  return pools
}

/** One group for each AS that speaks BGP, and one for layer 2. */
function groupsOf(sources: Sources): { ofAsn: ReadonlyMap<number, string>; objects: readonly Converted[] } {
  const peers = sources.of('BGPPeer')
  const asns = [...new Set(peers.map(({ spec }) => spec.myASN))]
  const ofAsn = new Map(asns.map((asn) => [asn, asns.length === 1 ? 'metallb-bgp' : `metallb-bgp-${asn}`]))
  const objects: Converted[] = asns.map((asn) =>
    madeOf(
      'NodeGroup',
      ofAsn.get(asn) ?? '',
      { announcer: 'bgp', bgp: { localASN: asn } },
      peers.filter(({ spec }) => spec.myASN === asn),
      [],
    ),
  )
  const layer2 = sources.of('L2Advertisement')
  const [first] = layer2
  if (first !== undefined) {
    const notes = layer2.flatMap(layer2Notes)
    if (asns.length > 0)
      notes.push(
        noteOf(first, null, 'a node of Spout is in one group, which announces on the segment or by BGP, not both'),
      )
    notes.push(noteOf(first, null, 'layer 2 becomes VRRP: the nodes of the group settle among themselves who answers'))
    objects.push(madeOf('NodeGroup', 'metallb-l2', { announcer: 'vrrp' }, layer2, notes))
  }
  return { ofAsn, objects }
}

const LAYER2_NOTES = {
  ipAddressPools: 'no equivalent: a group announces what its load balancers have, whatever pool it is from',
  ipAddressPoolSelectors: 'no equivalent: a group announces what its load balancers have, whatever pool it is from',
  nodeSelectors: 'set nodeSelector of the group, if not all nodes with an agent belong to it',
  interfaces: 'no equivalent: the agent of each node is configured with its fabric interface',
  serviceSelectors: 'no equivalent: all addresses of the group are announced',
  preferredNodeSelectors: 'no equivalent: shards are spread evenly over the nodes of the group',
} as const

const layer2Notes = (source: Source<'L2Advertisement'>): Note[] =>
  (Object.keys(LAYER2_NOTES) as (keyof typeof LAYER2_NOTES)[])
    .filter((field) => (source.spec[field]?.length ?? 0) > 0)
    .map((field) => noteOf(source, `spec.${field}`, LAYER2_NOTES[field]))

const aliasesOf = (sources: Sources): ReadonlyMap<string, string> =>
  new Map(
    sources
      .of('Community')
      .flatMap(({ spec }) => (spec.communities ?? []).map(({ name, value }) => [name, value] as const)),
  )

/** @param from what it was made of */
export const madeOf = (
  kind: ConvertedObject['kind'],
  name: string,
  spec: object,
  from: readonly { readonly manifest: Manifest }[],
  notes: readonly Note[],
): Converted => ({
  object: { apiVersion: `${GROUP}/${VERSION}`, kind, metadata: { name }, spec },
  from: from.map(({ manifest }) => `${manifest.where}: ${manifest.kind} ${manifest.name}`),
  notes,
})

/** Attaches notes to the objects that they are about, if there are any. */
export function attach(objects: readonly Converted[], notes: readonly Note[]): Conversion {
  const homeOf = ({ where, about }: Note) => objects.findLast(({ from }) => from.includes(`${where}: ${about}`))
  return {
    objects: objects.map((one) => ({ ...one, notes: [...notes.filter((note) => homeOf(note) === one), ...one.notes] })),
    notes: notes.filter((note) => homeOf(note) === undefined),
  }
}
