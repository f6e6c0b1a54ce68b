import {
  CONFIGURED_ANNOUNCERS,
  type ConfiguredAnnouncer,
  type HasAllDefaults,
  hasAllDefaults,
  nodeGroup,
  type SettingsSchema,
  settingsOf,
} from '@spout/model'
import { z } from 'zod'

type WithoutDefault<S> = S extends z.ZodDefault<infer T> ? T : S
/** An announcer's settings as a request names them. Fields that are absent keep their values. */
type Named<S extends z.ZodObject> = z.ZodObject<
  { [F in keyof S['shape']]: z.ZodOptional<WithoutDefault<S['shape'][F]>> },
  z.core.$strict
>

type DraftShape = {
  readonly [N in ConfiguredAnnouncer]: HasAllDefaults<SettingsSchema<N>> extends true
    ? z.ZodDefault<Named<SettingsSchema<N>>>
    : z.ZodDefault<z.ZodNullable<SettingsSchema<N>>>
}
type ChangeShape = {
  readonly [N in ConfiguredAnnouncer]: HasAllDefaults<SettingsSchema<N>> extends true
    ? Named<SettingsSchema<N>>
    : z.ZodNullable<Named<SettingsSchema<N>>>
}

/**
 * The fields of a draft that belong to announcers. Settings that every group has stay without defaults here, and
 * admission completes them: it must tell a field that was left out from one that was given its default.
 */
export const settingsDraftShape = shapeOf<DraftShape>((name, named, everyGroupHas) =>
  everyGroupHas ? named.default({}) : nodeGroup.shape[name],
)

/** The fields of a change that belong to announcers. Null removes the settings, if a group can be without them. */
export const settingsChangeShape = shapeOf<ChangeShape>((_name, named, everyGroupHas) =>
  everyGroupHas ? named : named.nullable(),
)

function shapeOf<Shape>(
  field: (name: ConfiguredAnnouncer, named: z.ZodObject, everyGroupHas: boolean) => z.ZodType,
): Shape {
  const fields = CONFIGURED_ANNOUNCERS.map(({ name, settings }) => {
    const optional = settingsOf(settings).map(({ field, schema }) => [field, schema.optional()])
    return [name, field(name, z.strictObject(Object.fromEntries(optional)), hasAllDefaults(settings))]
  })
  return Object.fromEntries(fields) as Shape
}
