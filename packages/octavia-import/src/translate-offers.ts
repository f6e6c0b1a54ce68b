import type { Attributes } from '@spout/octavia-client'
import type { Found } from './inventory.ts'
import { isEmpty, KIND_ROWS, type ProfileKind, textOf } from './kinds.ts'
import { type Note, NotTaken, projectOf, type Translated, type TranslateOptions } from './translate.ts'

/** The attribute that holds a profile's settings, as JSON text. */
const DATA: Readonly<Record<ProfileKind, string>> = {
  flavorprofile: 'flavor_data',
  availability_zone_profile: 'availability_zone_data',
}

/** Why keys of the amphora provider have no meaning in Spout. */
const NO_MEANING: Readonly<Record<string, string>> = {
  compute_flavor: 'a load balancer is not a machine in Spout',
  amp_image_tag: 'a load balancer is not a machine in Spout',
  sriov_vip: 'nodes have their own network cards',
}

/** A flavor profile or an availability zone profile. @throws NotTaken */
export function profileOf(found: Found & { readonly kind: ProfileKind }, options: TranslateOptions): Translated {
  const { providers } = options.destination
  const field = DATA[found.kind]
  const theirs = textOf(found.attributes['provider_name']) ?? ''
  const wanted = options.replacements.get(theirs) ?? theirs
  const [usual = wanted] = providers
  const provider = providers.has(wanted) ? wanted : usual
  const { data, notes } = dataOf(found.kind, objectOf(field, found.attributes[field]), options)
  return {
    body: { ...copied(found), provider_name: provider, [field]: JSON.stringify(data) },
    notes: [
      ...(provider === wanted
        ? []
        : [{ field: 'provider_name', text: `is ${provider}: Spout has no provider ${wanted}` }]),
      ...notes,
    ],
  }
}

function objectOf(field: string, value: unknown): Attributes {
  try {
    const data: unknown = JSON.parse(String(value))
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Attributes
  } catch {
    // Reported below.
  }
  throw new NotTaken(field, 'is not a JSON object')
}

function dataOf(
  kind: ProfileKind,
  theirs: Attributes,
  { destination, replacements }: TranslateOptions,
): { readonly data: Attributes; readonly notes: readonly Note[] } {
  const data: Record<string, unknown> = {}
  const notes: Note[] = []
  for (const [key, value] of Object.entries(theirs)) {
    const field = `${DATA[kind]}.${key}`
    const leftOut = (why: string) => notes.push({ field, text: `left out (${JSON.stringify(value)}): ${why}` })
    if (!destination.profileKeys[kind].has(key)) leftOut(NO_MEANING[key] ?? 'it has no meaning in Spout')
    else if (key === 'node_group' || key === 'compute_zone') {
      const group = replacements.get(String(value)) ?? String(value)
      if (destination.nodeGroups.has(group)) data[key] = group
      else leftOut(`Spout has no node group ${group}: create it, or name another (--map ${String(value)}=GROUP)`)
    } else if (key === 'valid_vip_networks' && Array.isArray(value))
      data[key] = value.map((id) => networkOf(field, String(id), destination.networkIds, replacements))
    else data[key] = value
  }
  return { data, notes }
}

/** @throws NotTaken for an unknown network: leaving it out would allow other networks than the zone does, or all */
function networkOf(
  field: string,
  theirs: string,
  known: ReadonlySet<string>,
  replacements: ReadonlyMap<string, string>,
): string {
  const wanted = replacements.get(theirs) ?? theirs
  if (known.has(wanted)) return wanted
  throw new NotTaken(field, `Spout has no network and no address pool ${wanted}: name one (--map ${theirs}=ID)`)
}

const PROFILE_ID = { flavor: 'flavor_profile_id', availability_zone: 'availability_zone_profile_id' } as const
export type OfferKind = keyof typeof PROFILE_ID

/** The profile that a flavor or a zone was made of, in Spout. */
export function profileIdOf(
  { kind, attributes }: Found & { readonly kind: OfferKind },
  { replacements }: TranslateOptions,
): { readonly field: string; readonly id: string } {
  const theirs = String(attributes[PROFILE_ID[kind]])
  return { field: PROFILE_ID[kind], id: replacements.get(theirs) ?? theirs }
}

/** A flavor or an availability zone. */
export function offerOf(found: Found & { readonly kind: OfferKind }, options: TranslateOptions): Translated {
  const { field, id } = profileIdOf(found, options)
  return { body: { ...copied(found), [field]: id }, notes: [] }
}

const LIMITS = ['loadbalancer', 'listener', 'pool', 'member', 'healthmonitor', 'l7policy', 'l7rule'] as const
/** Every limit is finite in Spout. */
const LARGEST_LIMIT = 1_000_000

/** A project's own limits, and the project's id in Spout. @throws NotTaken */
export function quotaOf(found: Found, options: TranslateOptions): Translated & { readonly projectId: string } {
  const { attributes } = found
  const limits = LIMITS.flatMap((name) => {
    const limit = attributes[name]
    return typeof limit === 'number'
      ? [[name, limit < 0 ? LARGEST_LIMIT : Math.min(limit, LARGEST_LIMIT)] as const]
      : []
  })
  return {
    projectId: projectOf(found, options),
    body: Object.fromEntries(limits),
    notes: [
      ...limits.flatMap(([name, limit]) =>
        Number(attributes[name]) > limit ? [{ field: name, text: `is ${limit}, the largest limit of Spout` }] : [],
      ),
    ],
  }
}

/** Whether a quota sets any limit. Octavia creates a quota without limits for every project that used something. */
export const hasLimits = ({ attributes }: Found): boolean => LIMITS.some((name) => typeof attributes[name] === 'number')

/** The attributes that are taken over unchanged. */
export const copied = ({ kind, attributes }: Found): Attributes =>
  Object.fromEntries(
    KIND_ROWS[kind].copied.filter((field) => !isEmpty(attributes[field])).map((field) => [field, attributes[field]]),
  )
