import type { Attributes } from '@spout/octavia-client'
import { type AddressPlace, type Destination, placesOf } from './destination.ts'
import type { Found } from './inventory.ts'
import { CERTIFICATE_REFS, isEmpty, KIND_ROWS, textOf } from './kinds.ts'

/** A remark about one attribute. */
export interface Note {
  readonly field: string
  readonly text: string
}

/** An object cannot be taken over because of one of its attributes. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
  readonly note: Note

  constructor(field: string, text: string) {
    super(`${field}: ${text}`)
    this.note = { field, text }
  }
}

export interface TranslateOptions {
  readonly destination: Destination
  /** Replacements in Spout, by id, name or reference in the other cloud. */
  readonly replacements: ReadonlyMap<string, string>
  /** Whether load balancers are created disabled, so that no node announces their addresses. */
  readonly disabled: boolean
}

/** The body that creates an object in Spout, and remarks about differences. */
export interface Translated {
  readonly body: Attributes
  readonly notes: readonly Note[]
}

/**
 * The body that creates the object in Spout, without references to its parents.
 * @param projectId the project of its load balancer in Spout; null while it is not known
 * @throws NotTaken
 */
export function translate(found: Found, projectId: string | null, options: TranslateOptions): Translated {
  const { kind, attributes } = found
  const { copied, leftOut } = KIND_ROWS[kind]
  const copies = copied.filter((field) => !isEmpty(attributes[field])).map((field) => [field, attributes[field]])
  const own: Attributes = Object.fromEntries(copies)
  const notes = Object.entries(leftOut).flatMap(([field, why]) =>
    isEmpty(attributes[field]) ? [] : [{ field, text: `left out: ${why}` }],
  )
  if (kind === 'loadbalancer') {
    const vips = vipsOf(attributes, projectId, options)
    const offers = offersOf(attributes, options)
    const groups = securityGroupsOf(attributes, projectId, options)
    const enabled = options.disabled ? { admin_state_up: false } : {}
    return {
      body: { ...own, ...enabled, project_id: projectId, ...vips, ...offers.body, ...groups },
      notes: [...notes, ...offers.notes],
    }
  }
  if (kind === 'member') {
    const subnet = memberSubnet(attributes, projectId, options)
    return { body: { ...own, ...subnet.body }, notes: [...notes, ...subnet.notes] }
  }
  return { body: { ...own, ...certificatesOf(attributes, options) }, notes }
}

/**
 * The project in Spout: the one that replaces it, else the one with its id.
 * @throws NotTaken
 */
export function projectOf({ attributes }: Found, { destination, replacements }: TranslateOptions): string {
  const theirs = textOf(attributes['project_id']) ?? ''
  const wanted = replacements.get(theirs) ?? dashed(theirs)
  const found = destination.projects.find(({ id, name }) => id === wanted || id === dashed(wanted) || name === wanted)
  if (found !== undefined) return found.id
  throw new NotTaken(
    'project_id',
    `Spout has no project ${wanted}: create it (spout project create NAME --id ${dashed(theirs)}), or name another (--map ${theirs}=PROJECT)`,
  )
}

/** Keystone prints ids of projects without dashes. */
export function dashed(id: string): string {
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i.exec(id)
  return parts === null ? id : parts.slice(1).join('-').toLowerCase()
}

/**
 * The same addresses, in the subnets or pools where Spout has them.
 * @throws NotTaken
 */
function vipsOf(attributes: Attributes, projectId: string | null, options: TranslateOptions): Attributes {
  const [address, subnetId] = [textOf(attributes['vip_address']), textOf(attributes['vip_subnet_id'])]
  if (address === null) throw new NotTaken('vip_address', 'the load balancer has none yet')
  const others = (attributes['additional_vips'] ?? []) as readonly Attributes[]
  const place = placeOf('vip_address', address, subnetId, projectId, ['subnet', 'pool'], options)
  const additional = others.map((vip) => {
    const theirs = String(vip['ip_address'])
    const theirSubnet = textOf(vip['subnet_id'])
    const { id } = placeOf('additional_vips', theirs, theirSubnet, projectId, ['subnet', 'pool'], options)
    return { subnet_id: id, ip_address: theirs }
  })
  return {
    ...{ vip_address: address, vip_subnet_id: place.id },
    ...(additional.length > 0 && { additional_vips: additional }),
  }
}

/**
 * The subnet or pool of Spout that contains an address.
 * @param theirs the subnet or network of the address in the other cloud
 * @throws NotTaken when none of these kinds contains it, or several do
 */
export function placeOf(
  field: string,
  address: string,
  theirs: string | null,
  projectId: string | null,
  kinds: readonly AddressPlace['kind'][],
  { destination, replacements }: TranslateOptions,
): AddressPlace {
  const found = placesOf(destination, projectId ?? '', address, kinds)
  const wanted = theirs === null ? undefined : (replacements.get(theirs) ?? theirs)
  const named = found.find(({ id, name }) => id === wanted || name === wanted)
  if (named !== undefined) return named
  const [first, second] = found
  if (first === undefined)
    throw new NotTaken(
      field,
      `${address} is in no address pool${kinds.includes('subnet') ? ' and in no subnet of the project' : ''} in Spout`,
    )
  if (second !== undefined)
    throw new NotTaken(
      field,
      `${address} is in ${found.map(({ name, id }) => name || id).join(' and ')}: name one (--map ${theirs ?? 'SUBNET'}=ID)`,
    )
  return first
}

/** The subnet of a member. If the other cloud names none, Spout finds the network by the address. */
function memberSubnet(attributes: Attributes, projectId: string | null, options: TranslateOptions): Translated {
  const theirs = textOf(attributes['subnet_id'])
  if (theirs === null) return { body: {}, notes: [] }
  const wanted = options.replacements.get(theirs) ?? theirs
  const found = placesOf(options.destination, projectId ?? '', String(attributes['address']), ['subnet'])
  const place =
    found.find(({ id, name }) => id === wanted || name === wanted) ?? (found.length === 1 ? found[0] : undefined)
  if (place !== undefined) return { body: { subnet_id: place.id }, notes: [] }
  return { body: {}, notes: [{ field: 'subnet_id', text: `left out: Spout has no subnet ${wanted}` }] }
}

/** Provider, flavor and zone, as far as Spout has them. A load balancer works without them. */
function offersOf(attributes: Attributes, { destination, replacements }: TranslateOptions): Translated {
  const { providers, flavorIds, zoneNames } = destination
  const rows = [
    ['provider', providers, 'provider'],
    ['flavor_id', flavorIds, 'flavor'],
    ['availability_zone', zoneNames, 'availability zone'],
  ] as const
  const body: Record<string, unknown> = {}
  const notes: Note[] = []
  for (const [field, known, word] of rows) {
    const theirs = textOf(attributes[field])
    if (theirs === null) continue
    const wanted = replacements.get(theirs) ?? theirs
    if (known.has(wanted)) body[field] = wanted
    else notes.push({ field, text: `left out: Spout has no ${word} ${wanted}` })
  }
  return { body, notes }
}

/** @throws NotTaken for an unknown group: without it, a load balancer would admit fewer clients, or all */
function securityGroupsOf(
  { vip_sg_ids: theirs }: Attributes,
  projectId: string | null,
  { destination, replacements }: TranslateOptions,
): Attributes {
  if (isEmpty(theirs)) return {}
  const ids = (theirs as readonly unknown[]).map((each) => {
    const id = replacements.get(String(each)) ?? String(each)
    const owner = destination.groupProjects.get(id)
    if (owner === projectId) return id
    const why =
      owner === undefined
        ? `Spout has no security group ${id}, and none of that id is taken over`
        : `security group ${id} is of another project`
    throw new NotTaken(
      'vip_sg_ids',
      `${why}: create one (openstack security group create), and name it (--map ${String(each)}=ID)`,
    )
  })
  return { vip_sg_ids: ids }
}

/** Keys do not leave a key manager, so certificates have to be in Spout already. @throws NotTaken */
function certificatesOf(attributes: Attributes, { destination, replacements }: TranslateOptions): Attributes {
  const idOf = (field: string, theirs: string): string => {
    const wanted = replacements.get(theirs) ?? theirs
    const id = wanted.slice(wanted.lastIndexOf('/') + 1)
    if (destination.certificateIds.has(id)) return id
    throw new NotTaken(
      field,
      `Spout has no certificate ${id}: create it (spout certificate create), and name it (--map ${theirs}=ID)`,
    )
  }
  const ids = (field: string, theirs: unknown): unknown =>
    Array.isArray(theirs) ? theirs.map((one) => idOf(field, String(one))) : idOf(field, String(theirs))
  const named = CERTIFICATE_REFS.filter((field) => !isEmpty(attributes[field]))
  return Object.fromEntries(named.map((field) => [field, ids(field, attributes[field])]))
}
