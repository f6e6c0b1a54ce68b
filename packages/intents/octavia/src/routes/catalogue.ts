import { isAdmin, requireRole } from '../access.ts'
import { parseListQuery } from '../list-query.ts'
import { notFound, OctaviaFault, policyForbidden, unsupportedAction } from '../wire/fault.ts'
import type { Call, Route } from './route.ts'

/** Providers, and resources of Octavia that do not exist here: they are answered as empty or unsupported. */

function providers(call: Call) {
  requireRole(call.principal, 'reader')
  const only = parseListQuery(call.query).fields
  const shown = call.context.options.providers.map((provider) =>
    Object.fromEntries(Object.entries(provider).filter(([name]) => only?.has(name) ?? true)),
  )
  return { providers: shown }
}

/** Flavors and availability zones offer no choice yet. */
const capabilities = (key: string) => (call: Call) => {
  if (!isAdmin(call.principal)) throw policyForbidden()
  if (!call.context.options.providers.some(({ name }) => name === call.id))
    throw new OctaviaFault(400, `Provider '${call.id}' is not enabled.`)
  return { [key]: [] }
}

interface Absent {
  readonly path: string
  readonly word: string
  /** Root attributes of the list and of its links: Octavia does not always derive one from the other. */
  readonly root: string
  readonly links: string
  readonly adminOnly: boolean
}

const absent: readonly Absent[] = [
  { path: '/flavors', word: 'Flavor', root: 'flavors', links: 'flavors_links', adminOnly: false },
  {
    path: '/flavorprofiles',
    word: 'Flavor Profile',
    root: 'flavorprofiles',
    links: 'flavorprofile_links',
    adminOnly: true,
  },
  {
    path: '/availabilityzones',
    word: 'Availability Zone',
    root: 'availability_zones',
    links: 'availability_zones_links',
    adminOnly: false,
  },
  {
    path: '/availabilityzoneprofiles',
    word: 'Availability Zone Profile',
    root: 'availability_zone_profiles',
    links: 'availability_zone_profile_links',
    adminOnly: true,
  },
]

function absentRoutes({ path, word, root, links, adminOnly }: Absent): readonly Route[] {
  const admit = (call: Call): void => {
    requireRole(call.principal, adminOnly ? 'admin' : 'reader')
  }
  const list = (call: Call) => {
    admit(call)
    return { [root]: [], [links]: [] }
  }
  const missing = (call: Call): never => {
    admit(call)
    throw notFound(word, call.id)
  }
  const create = (call: Call): never => {
    requireRole(call.principal, 'admin')
    throw unsupportedAction(`a new ${word}: not offered yet`)
  }
  return [
    { method: 'GET', path, status: 200, handle: list },
    { method: 'POST', path, status: 201, handle: create },
    ...(['GET', 'PUT', 'DELETE'] as const).map((method) => ({
      method,
      path: `${path}/:id`,
      status: 200,
      handle: missing,
    })),
  ]
}

export const catalogueRoutes: readonly Route[] = [
  { method: 'GET', path: '/providers', status: 200, handle: providers },
  {
    method: 'GET',
    path: '/providers/:id/flavor_capabilities',
    status: 200,
    handle: capabilities('flavor_capabilities'),
  },
  {
    method: 'GET',
    path: '/providers/:id/availability_zone_capabilities',
    status: 200,
    handle: capabilities('availability_zone_capabilities'),
  },
  ...absent.flatMap(absentRoutes),
]

/** There is no virtual machine behind a load balancer. */
export const amphoraRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/amphorae',
    status: 200,
    handle: (call) => {
      requireRole(call.principal, 'admin')
      return { amphorae: [], amphorae_links: [] }
    },
  },
  {
    method: 'GET',
    path: '/amphorae/:id',
    status: 200,
    handle: (call) => {
      requireRole(call.principal, 'admin')
      throw notFound('Amphora', call.id)
    },
  },
]
