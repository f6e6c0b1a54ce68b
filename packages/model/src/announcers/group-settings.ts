import type { z } from 'zod'
import type { AnnouncerDescriptor } from './announcer.ts'
import { ANNOUNCERS, type AnnouncerName, announcerNamed, type KnownDescriptor } from './registry.ts'
import { type AnnouncerSettings, requiredSettings } from './settings.ts'

type Configured = Extract<KnownDescriptor, { readonly settings: AnnouncerSettings }>
/** The name of an announcer that has settings. The field of `NodeGroup` that holds them has the same name. */
export type ConfiguredAnnouncer = Configured['name']
export type SettingsSchema<N extends ConfiguredAnnouncer> = Extract<
  Configured,
  { readonly name: N }
>['settings']['schema']

/** The announcers that have settings, in the order of the registry. */
export const CONFIGURED_ANNOUNCERS = ANNOUNCERS.filter(({ settings }) => settings !== undefined) as readonly (Required<
  Pick<AnnouncerDescriptor, 'settings'>
> & { readonly name: ConfiguredAnnouncer })[]

/** Whether every setting has a default, so that every group has the settings (see `AnnouncerSettings.schema`). */
export type HasAllDefaults<S extends z.ZodObject> = Record<never, never> extends z.input<S> ? true : false
export const hasAllDefaults = (settings: AnnouncerSettings): boolean => requiredSettings(settings).length === 0

type GroupSettingsShape = {
  readonly [N in ConfiguredAnnouncer]: HasAllDefaults<SettingsSchema<N>> extends true
    ? z.ZodPrefault<SettingsSchema<N>>
    : z.ZodDefault<z.ZodNullable<SettingsSchema<N>>>
}

/** The announcers' fields of `NodeGroup`. */
export const groupSettingsShape = Object.fromEntries(
  CONFIGURED_ANNOUNCERS.map(({ name, settings }) => [
    name,
    hasAllDefaults(settings) ? settings.schema.prefault({}) : settings.schema.nullable().default(null),
  ]),
) as unknown as GroupSettingsShape

export type GroupSettings = { readonly [N in ConfiguredAnnouncer]: z.output<GroupSettingsShape[N]> }

type Announcing = GroupSettings & { readonly announcer: AnnouncerName }

/** Whether the group's announcer needs settings that the group does not have. */
export const lacksSettings = (group: Announcing): boolean =>
  (group as { readonly [N in AnnouncerName]?: object | null })[group.announcer] === null

/** The announcer that the group uses: its own, or the one that elects its masters while its own lacks settings. */
export function announcerInUse(group: Announcing): AnnouncerName {
  const { name, electedBy } = announcerNamed(group.announcer)
  return lacksSettings(group) ? (electedBy ?? name) : name
}
