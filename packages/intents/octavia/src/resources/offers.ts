import type { AvailabilityZone, LoadBalancerClass, OctaviaProfile } from '@spout/model'
import { type Field, rowsOf } from '../wire/field.ts'
import { boolean, text, uuid, type WireType } from '../wire/wire-type.ts'
import type { Resource } from './resource.ts'

const prose = text({ max: 255 })
const profileData = text({ max: 4096 })

/** The id of an object that is moved here from another Octavia. */
interface ChosenId {
  readonly id?: string
}

/** A flavor or an availability zone as a request describes it. Fields that an update leaves out are absent. */
export interface OfferEdits extends ChosenId {
  readonly name?: string
  readonly description?: string
  readonly enabled?: boolean
  readonly profileId?: string
}

export interface ProfileEdits extends ChosenId {
  readonly name?: string
  readonly provider?: string
  readonly data?: string
}

type Offer = LoadBalancerClass | AvailabilityZone

/** A class that was made without a profile shows one with the id of the class. */
export const profileIdOf = ({ id, profileId }: Offer): string => profileId ?? id

const offerFields = (names: { readonly since: number; readonly profile: string; readonly renamed: boolean }) => {
  const { since, profile, renamed } = names
  const row = rowsOf<OfferEdits, Offer>()
  return [
    row('name', prose, {
      since,
      create: 'required',
      update: renamed,
      write: (edits, name) => ({ ...edits, name }),
      read: ({ name }) => name,
    }),
    row('description', prose, {
      since,
      create: 'optional',
      update: true,
      ifNull: '',
      write: (edits, description) => ({ ...edits, description }),
      read: ({ description }) => description,
    }),
    row('enabled', boolean, {
      since,
      create: 'optional',
      update: true,
      ifNull: false,
      write: (edits, enabled) => ({ ...edits, enabled }),
      read: ({ enabled }) => enabled,
    }),
    row(profile, uuid, {
      since,
      create: 'required',
      write: (edits, profileId) => ({ ...edits, profileId }),
      read: profileIdOf,
    }),
  ]
}

const idField = <D extends ChosenId, R extends { readonly id: string }>(since: number): Field<D, R> =>
  rowsOf<D, R>()('id', uuid, {
    since,
    create: 'administrator',
    write: (edits, id) => ({ ...edits, id }),
    read: ({ id }) => id,
  })

export const flavorResource: Resource<OfferEdits, Offer> = {
  word: 'Flavor',
  root: 'flavor',
  plural: 'flavors',
  argument: 'flavor_',
  fields: [idField(6), ...offerFields({ since: 6, profile: 'flavor_profile_id', renamed: true })],
}

export const zoneResource: Resource<OfferEdits, Offer> = {
  word: 'Availability Zone',
  root: 'availability_zone',
  plural: 'availability_zones',
  argument: 'availability_zone_',
  fields: offerFields({ since: 14, profile: 'availability_zone_profile_id', renamed: false }),
}

function profileFields(since: number, dataName: string): readonly Field<ProfileEdits, OctaviaProfile>[] {
  const row = rowsOf<ProfileEdits, OctaviaProfile>()
  const field = (wireName: string, name: keyof ProfileEdits, type: WireType<string>) =>
    row(wireName, type, {
      since,
      create: 'required',
      update: true,
      write: (edits, value) => ({ ...edits, [name]: value }),
      read: (profile) => profile[name],
    })
  return [
    idField(since),
    field('name', 'name', prose),
    field('provider_name', 'provider', prose),
    field(dataName, 'data', profileData),
  ]
}

export const flavorProfileResource: Resource<ProfileEdits, OctaviaProfile> = {
  word: 'Flavor profile',
  root: 'flavorprofile',
  plural: 'flavorprofiles',
  argument: 'flavor_profile_',
  fields: profileFields(6, 'flavor_data'),
}

export const zoneProfileResource: Resource<ProfileEdits, OctaviaProfile> = {
  word: 'Availability Zone Profile',
  root: 'availability_zone_profile',
  plural: 'availability_zone_profiles',
  argument: 'availability_zone_profile_',
  fields: profileFields(14, 'availability_zone_data'),
}
