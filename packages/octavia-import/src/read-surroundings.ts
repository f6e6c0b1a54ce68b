import { ApiRefusal, type Attributes, type NeutronClient, type OctaviaClient } from '@spout/octavia-client'
import type { Found, Unread } from './inventory.ts'
import { KIND_ROWS, type Kind, type ProfileKind, textOf } from './kinds.ts'

/** Objects outside of load balancers: those that load balancers name, quotas, and floating IPs of their ports. */
export interface Surroundings {
  /** In an order in which they can be created. */
  readonly found: readonly Found[]
  readonly unread: readonly Unread[]
}

type Chosen = ProfileKind | 'flavor' | 'availability_zone' | 'quota' | 'security_group' | 'floatingip'
/** Whether an object is wanted. `key` is its id; for a floating IP, the port that it is bound to. */
export type WantedAround = (kind: Chosen, key: string) => boolean

/**
 * Selects the objects that load balancers name.
 * @param others also selects flavors, zones, profiles and quotas that no load balancer names
 */
export function namedBy(loadBalancers: readonly Found[], others: boolean): WantedAround {
  const all = (field: string): ReadonlySet<unknown> =>
    new Set(loadBalancers.flatMap(({ attributes }) => (attributes[field] ?? []) as readonly unknown[]))
  const keys: Readonly<Record<Chosen, ReadonlySet<unknown>>> = {
    flavorprofile: new Set(),
    availability_zone_profile: new Set(),
    flavor: all('flavor_id'),
    availability_zone: all('availability_zone'),
    quota: all('project_id'),
    security_group: all('vip_sg_ids'),
    floatingip: all('vip_port_id'),
  }
  const listed = (kind: Chosen): boolean => kind !== 'security_group' && kind !== 'floatingip'
  return (kind, key) => (others && listed(kind)) || keys[kind].has(key)
}

export interface Clients {
  readonly octavia: Pick<OctaviaClient, 'list'>
  /** Null when the cloud has no Neutron. */
  readonly neutron: Pick<NeutronClient, 'list'> | null
}

/** Reads one cloud. A list that cannot be read is in `unread`. A list that an older server does not know is empty. */
export async function readSurroundings({ octavia, neutron }: Clients, wanted: WantedAround): Promise<Surroundings> {
  const unread: Unread[] = []
  /** @param without status codes that mean that there are no such objects */
  const read = async (
    client: Clients['octavia'],
    path: string,
    without: readonly number[],
    plural?: string,
  ): Promise<readonly Attributes[]> => {
    try {
      return await client.list(path, plural)
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      if (!without.includes(error.status)) unread.push({ path, reason: error.message })
      return []
    }
  }
  /** An older Octavia does not know all of them. */
  const octaviaList = (kind: Kind, plural?: string) => read(octavia, `/${KIND_ROWS[kind].plural}`, [404], plural)
  /**
   * The profiles of the offers, and other wanted ones. When the account may not see profiles, the offers report that.
   */
  const profiles = async (kind: ProfileKind, offers: readonly Attributes[], field: string) =>
    (await read(octavia, `/${KIND_ROWS[kind].plural}`, [403, 404], `${kind}s`)).filter(
      ({ id }) => wanted(kind, String(id)) || offers.some((offer) => offer[field] === id),
    )
  const flavors = (await octaviaList('flavor')).filter(({ id }) => wanted('flavor', String(id)))
  const zones = (await octaviaList('availability_zone', 'availability_zones')).filter(({ name }) =>
    wanted('availability_zone', String(name)),
  )
  const flavorProfiles = await profiles('flavorprofile', flavors, 'flavor_profile_id')
  const zoneProfiles = await profiles('availability_zone_profile', zones, 'availability_zone_profile_id')
  const quotas = (await octaviaList('quota')).filter((quota) => wanted('quota', projectIdOf(quota)))
  const network = neutron === null ? [] : await readNetwork((path) => read(neutron, path, []), wanted)
  return {
    found: [
      ...flavorProfiles.map((each) => found('flavorprofile', each)),
      ...flavors.map((each) => found('flavor', each)),
      ...zoneProfiles.map((each) => found('availability_zone_profile', each)),
      ...zones.map((each) => found('availability_zone', each, String(each['name']))),
      ...quotas.map((each) => found('quota', each, projectIdOf(each))),
      ...network,
    ],
    unread,
  }
}

async function readNetwork(
  read: (path: string) => Promise<readonly Attributes[]>,
  wanted: WantedAround,
): Promise<readonly Found[]> {
  const groups = (await read('/security-groups')).filter(({ id }) => wanted('security_group', String(id)))
  const floating = (await read('/floatingips')).filter(({ port_id: port }) => wanted('floatingip', textOf(port) ?? ''))
  return [
    ...groups.flatMap((group) => [
      found('security_group', group),
      ...rulesOf(group).map((rule) => ({
        ...found('security_group_rule', rule),
        parentId: String(group['id']),
      })),
    ]),
    ...floating.map((each) => found('floatingip', each)),
  ]
}

/** The rules inside of a security group. */
export const rulesOf = ({ security_group_rules: rules }: Attributes): readonly Attributes[] =>
  Array.isArray(rules) ? rules : []

const projectIdOf = ({ project_id: project, tenant_id: tenant }: Attributes): string =>
  textOf(project) ?? textOf(tenant) ?? ''

const found = (kind: Kind, attributes: Attributes, id = String(attributes['id'])): Found => ({
  ...{ kind, id, attributes },
  parentId: null,
})
