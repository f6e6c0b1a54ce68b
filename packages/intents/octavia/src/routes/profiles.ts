import type { LoadBalancerClass, OctaviaProfile } from '@spout/model'
import { requireRole } from '../access/access.ts'
import { classSettingsOf, flavorDataOf, type GroupDirectory, zoneSettingsOf } from '../conversion/offer-settings.ts'
import { flavorProfileResource, type ProfileEdits, zoneProfileResource } from '../resources/offers.ts'
import type { Resource } from '../resources/resource.ts'
import { readBody } from '../to-model/to-model.ts'
import { notFound, OctaviaFault } from '../wire/fault.ts'
import { printObject } from '../wire/field.ts'
import { readRoutes } from './read-routes.ts'
import type { Call, Route } from './route.ts'

/** The routes of flavor profiles and availability zone profiles. Only administrators may use them. */
interface ProfileKind {
  readonly of: OctaviaProfile['of']
  readonly path: string
  readonly resource: Resource<ProfileEdits, OctaviaProfile>
  readonly links: string
  /** @throws OctaviaFault for data that is not valid for this kind of profile */
  readonly check: (data: string, directory: GroupDirectory) => unknown
}

const FLAVOR_PROFILES: ProfileKind = {
  of: 'loadBalancerClass',
  path: '/flavorprofiles',
  resource: flavorProfileResource,
  links: 'flavorprofile_links',
  check: classSettingsOf,
}
const ZONE_PROFILES: ProfileKind = {
  of: 'availabilityZone',
  path: '/availabilityzoneprofiles',
  resource: zoneProfileResource,
  links: 'availability_zone_profile_links',
  check: zoneSettingsOf,
}

export const groupDirectory = ({ context: { view, options } }: Call): GroupDirectory => ({
  groups: view.list('nodeGroup'),
  noop: options.noop === true,
})

/** The stored profiles, and one for each class that was made without. */
export function profilesOf(call: Call, of: OctaviaProfile['of']): readonly OctaviaProfile[] {
  const { view, options } = call.context
  const provider = options.providers[0]?.name ?? 'spout'
  const stored = view.list('octaviaProfile').filter((profile) => profile.of === of)
  if (of !== 'loadBalancerClass') return stored
  const directory = groupDirectory(call)
  const impliedBy = ({
    id,
    name,
    description,
    createdAt,
    updatedAt,
    ...settings
  }: LoadBalancerClass): OctaviaProfile => {
    const data = flavorDataOf(settings, directory)
    return { id, name, description, createdAt, updatedAt, of, provider, data }
  }
  const withoutProfile = view.list('loadBalancerClass').filter(({ profileId }) => profileId === undefined)
  return [...stored, ...withoutProfile.map(impliedBy)]
}

const byId = (a: OctaviaProfile, b: OctaviaProfile): number => (a.id < b.id ? -1 : 1)

function profileRoutes({ of, path, resource, links, check }: ProfileKind): readonly Route[] {
  const { root, fields, word } = resource
  const print = (profile: OctaviaProfile) => ({ [root]: printObject(fields, profile) })
  const found = (call: Call): OctaviaProfile => {
    requireRole(call.principal, 'admin')
    const profile = profilesOf(call, of).find(({ id }) => id === call.id)
    if (profile === undefined) throw notFound(word, call.id)
    return profile
  }
  const checked = (call: Call, { provider, data }: { readonly provider: string; readonly data: string }): void => {
    if (!call.context.options.providers.some(({ name }) => name === provider))
      throw new OctaviaFault(400, `Provider '${provider}' is not enabled.`)
    check(data, groupDirectory(call))
  }
  /** The profile of a class that was made without one is no object of its own. */
  const ownOnly = ({ context: { view } }: Call, { id }: OctaviaProfile): void => {
    if (view.get('octaviaProfile', id) === null)
      throw new OctaviaFault(409, `${word} ${id} is in use and cannot be modified.`)
  }
  return [
    ...readRoutes(resource, {
      path,
      links,
      list: (call) => {
        requireRole(call.principal, 'admin')
        return [...profilesOf(call, of)].sort(byId)
      },
      find: found,
    }),
    {
      method: 'POST',
      path,
      status: 201,
      handle: async (call) => {
        requireRole(call.principal, 'admin')
        const { id, name = '', provider = '', data = '' } = readBody(resource, 'create', call.body, call.stamp)({})
        checked(call, { provider, data })
        const draft = { ...(id !== undefined && { id }), name, description: '', of, provider, data }
        return print(await call.context.offers.createOctaviaProfile(draft))
      },
    },
    {
      method: 'PUT',
      path: `${path}/:id`,
      status: 200,
      handle: async (call) => {
        const profile = found(call)
        ownOnly(call, profile)
        const edits = readBody(resource, 'update', call.body, call.stamp)({})
        if (edits.provider !== undefined || edits.data !== undefined) checked(call, { ...profile, ...edits })
        return print(await call.context.offers.changeOctaviaProfile(profile.id, edits))
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:id`,
      status: 204,
      handle: async (call) => {
        const profile = found(call)
        ownOnly(call, profile)
        await call.context.offers.deleteOctaviaProfile(profile.id)
      },
    },
  ]
}

export const allProfileRoutes: readonly Route[] = [...profileRoutes(FLAVOR_PROFILES), ...profileRoutes(ZONE_PROFILES)]
