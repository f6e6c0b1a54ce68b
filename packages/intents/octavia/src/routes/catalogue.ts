import { isAdmin, requireRole } from '../access/access.ts'
import { type Capability, FLAVOR_CAPABILITIES, ZONE_CAPABILITIES } from '../conversion/offer-settings.ts'
import { OctaviaFault, policyForbidden } from '../wire/fault.ts'
import { parseListQuery } from './list-query.ts'
import type { Call, Route } from './route.ts'

/** The providers, and the settings that their profiles may contain. */

function providers(call: Call) {
  requireRole(call.principal, 'reader')
  const only = parseListQuery(call.query).fields
  return { providers: call.context.options.providers.map((provider) => shown(provider, only)) }
}

/** The settings that profiles of a provider may contain. */
const capabilities = (key: string, all: readonly Capability[]) => (call: Call) => {
  if (!isAdmin(call.principal)) throw policyForbidden()
  if (!call.context.options.providers.some(({ name }) => name === call.id))
    throw new OctaviaFault(400, `Provider '${call.id}' is not enabled.`)
  const { query } = call
  const only = parseListQuery(query).fields
  const wanted = all.filter(
    ({ name, description }) =>
      (query.get('name') ?? name) === name && (query.get('description') ?? description) === description,
  )
  return { [key]: wanted.map((one) => shown(one, only)) }
}

const shown = (entry: Capability, only: ReadonlySet<string> | undefined) =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => only?.has(name) ?? true))

export const catalogueRoutes: readonly Route[] = [
  { method: 'GET', path: '/providers', status: 200, handle: providers },
  {
    method: 'GET',
    path: '/providers/:id/flavor_capabilities',
    status: 200,
    handle: capabilities('flavor_capabilities', FLAVOR_CAPABILITIES),
  },
  {
    method: 'GET',
    path: '/providers/:id/availability_zone_capabilities',
    status: 200,
    handle: capabilities('availability_zone_capabilities', ZONE_CAPABILITIES),
  },
]
