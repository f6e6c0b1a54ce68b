import { type AvailabilityZone, type LoadBalancerClass, mayUseClass, type OctaviaProfile } from '@spout/model'
import { isAdmin, requireRole } from '../access/access.ts'
import { classSettingsOf, zoneSettingsOf } from '../conversion/offer-settings.ts'
import { flavorResource, type OfferEdits, zoneResource } from '../resources/offers.ts'
import type { Resource } from '../resources/resource.ts'
import { readBody } from '../to-model/to-model.ts'
import { notFound, subresourceNotFound } from '../wire/fault.ts'
import { printObject } from '../wire/field.ts'
import { groupDirectory, profilesOf } from './profiles.ts'
import { readRoutes } from './read-routes.ts'
import type { Call, Route } from './route.ts'

type Offer = LoadBalancerClass | AvailabilityZone

interface OfferDraft {
  readonly id?: string
  readonly name: string
  readonly description: string
  readonly enabled: boolean
  /** Absent for the profile of a class that was made without one. */
  readonly profileId?: string
}

/** The routes of flavors and availability zones. Only administrators write them; everybody may use them. */
interface OfferKind {
  readonly path: string
  readonly resource: Resource<OfferEdits, Offer>
  readonly links: string
  readonly profilesOf: OctaviaProfile['of']
  /** The field that paths name an object by, and that lists are sorted by. */
  readonly key: 'id' | 'name'
  readonly list: (call: Call) => readonly Offer[]
  readonly create: (call: Call, draft: OfferDraft, data: string) => Promise<Offer>
  readonly change: (call: Call, id: string, edits: OfferEdits) => Promise<Offer>
  readonly remove: (call: Call, id: string) => Promise<void>
}

const FLAVORS: OfferKind = {
  path: '/flavors',
  resource: flavorResource,
  links: 'flavors_links',
  profilesOf: 'loadBalancerClass',
  key: 'id',
  list: ({ context: { view }, principal }) =>
    view.list('loadBalancerClass').filter((each) => isAdmin(principal) || mayUseClass(each, principal.projectId)),
  create: (call, draft, data) =>
    call.context.offers.createLoadBalancerClass({ ...draft, ...classSettingsOf(data, groupDirectory(call)) }),
  change: ({ context }, id, edits) => context.offers.changeLoadBalancerClass(id, edits),
  remove: ({ context }, id) => context.offers.deleteLoadBalancerClass(id),
}

const ZONES: OfferKind = {
  path: '/availabilityzones',
  resource: zoneResource,
  links: 'availability_zones_links',
  profilesOf: 'availabilityZone',
  key: 'name',
  list: ({ context: { view } }) => view.list('availabilityZone'),
  create: (call, draft, data) =>
    call.context.offers.createAvailabilityZone({ ...draft, ...zoneSettingsOf(data, groupDirectory(call)) }),
  change: ({ context }, id, edits) => context.offers.changeAvailabilityZone(id, edits),
  remove: ({ context }, id) => context.offers.deleteAvailabilityZone(id),
}

function offerRoutes(kind: OfferKind): readonly Route[] {
  const { path, links, key } = kind
  const { root, fields, word } = kind.resource
  const print = (offer: Offer) => ({ [root]: printObject(fields, offer) })
  const found = (call: Call, role: 'reader' | 'admin'): Offer => {
    requireRole(call.principal, role)
    const offer = kind.list(call).find((each) => each[key] === call.id)
    if (offer === undefined) throw notFound(word, call.id)
    return offer
  }
  return [
    ...readRoutes(kind.resource, {
      path,
      links,
      list: (call) => {
        requireRole(call.principal, 'reader')
        return [...kind.list(call)].sort((a, b) => (a[key] < b[key] ? -1 : 1))
      },
      find: (call) => found(call, 'reader'),
    }),
    {
      method: 'POST',
      path,
      status: 201,
      handle: async (call) => {
        requireRole(call.principal, 'admin')
        const edits = readBody(kind.resource, 'create', call.body, call.stamp)({})
        const { id, name = '', description = '', enabled = true, profileId = '' } = edits
        const profile = profilesOf(call, kind.profilesOf).find(({ id }) => id === profileId)
        if (profile === undefined) throw subresourceNotFound(`${word} profile`, profileId)
        const stored = call.context.view.get('octaviaProfile', profileId) === null ? {} : { profileId }
        const chosen = id === undefined ? {} : { id }
        return print(await kind.create(call, { ...chosen, name, description, enabled, ...stored }, profile.data))
      },
    },
    {
      method: 'PUT',
      path: `${path}/:id`,
      status: 200,
      handle: async (call) => {
        const { id } = found(call, 'admin')
        return print(await kind.change(call, id, readBody(kind.resource, 'update', call.body, call.stamp)({})))
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:id`,
      status: 204,
      handle: (call) => kind.remove(call, found(call, 'admin').id),
    },
  ]
}

export const allOfferRoutes: readonly Route[] = [...offerRoutes(FLAVORS), ...offerRoutes(ZONES)]
