import type { CelRule, CelRules } from '@spout/kube'
import {
  CONFIGURED_ANNOUNCERS,
  type ConfiguredAnnouncer,
  hasAllDefaults,
  type Setting,
  type SettingsSchema,
  settingsOf,
  vrrpSettings,
} from '@spout/model'
import { z } from 'zod'
import { asn, RESERVED_ASN } from './bgp-words.ts'
import { whenSet } from './words.ts'

/** A setting that differs from the model's: in its name, or in what a structural schema can say of its values. */
interface Difference {
  readonly name?: string
  readonly schema?: z.ZodType
}
type Differences = {
  readonly [N in ConfiguredAnnouncer]?: { readonly [F in keyof SettingsSchema<N>['shape']]?: Difference }
}

const DIFFERENCES: Differences = {
  vrrp: { routerIds: { schema: vrrpSettings.shape.routerIds.unwrap().min(1) } },
  bgp: { localAs: { name: 'localASN', schema: asn } },
}

const RULES: CelRules = {
  'spec.vrrp': [
    whenSet(
      'routerIds',
      '(self.routerIds.size() == (has(self.shards) ? self.shards : 4) && self.routerIds.all(id, self.routerIds.exists_one(other, other == id)))',
      'must have a different one for each shard',
    ),
  ],
  'spec.bgp': [
    {
      rule: `!(self.localASN in ${RESERVED_ASN})`,
      message: 'is reserved: no router may have it',
      fieldPath: '.localASN',
    },
  ],
}

type Values = Readonly<Record<string, unknown>>

/** One announcer's settings in the kind. */
interface KindSettings {
  readonly announcer: ConfiguredAnnouncer
  /** Left out, the group has the defaults. Else it has none, and its announcer must be another. */
  readonly everyGroupHas: boolean
  readonly settings: readonly (Setting & { readonly name: string })[]
}

const ALL: readonly KindSettings[] = CONFIGURED_ANNOUNCERS.map(({ name: announcer, settings }) => {
  const differences: Readonly<Record<string, Difference>> = DIFFERENCES[announcer] ?? {}
  return {
    announcer,
    everyGroupHas: hasAllDefaults(settings),
    settings: settingsOf(settings).map((setting) => ({
      ...setting,
      name: setting.field,
      ...differences[setting.field],
    })),
  }
})

/** The announcers' fields of a NodeGroup's spec. */
export const announcerSettingsShape = Object.fromEntries(
  ALL.map(({ announcer, everyGroupHas, settings }) => {
    const fields = z.strictObject(Object.fromEntries(settings.map((setting) => [setting.name, schemaOf(setting)])))
    const whole = fields.optional()
    return [announcer, everyGroupHas ? whole : whole.describe(`Needed by announcer ${announcer}.`)]
  }),
) as unknown as { readonly [N in ConfiguredAnnouncer]: z.ZodOptional<z.ZodType<Values, Values>> }

function schemaOf({ schema, isRequired, words }: Setting): z.ZodType {
  return (isRequired ? schema : schema.optional()).describe(words.description)
}

export const announcerRules: CelRules = { spec: ALL.flatMap(whenNeeded), ...RULES }

function whenNeeded({ announcer, everyGroupHas }: KindSettings): readonly CelRule[] {
  if (everyGroupHas) return []
  const rule = `self.announcer != '${announcer}' || has(self.${announcer})`
  return [{ rule, message: `announcer ${announcer} needs it`, fieldPath: `.${announcer}` }]
}

/** Where a field of the native API has another name in the kind: names by path, such as `bgp.localAs`. */
export const renamedSettings: Readonly<Record<string, string>> = Object.fromEntries(
  ALL.flatMap(({ announcer, settings }) =>
    settings
      .filter(({ field, name }) => field !== name)
      .map(({ field, name }) => [`${announcer}.${field}`, `${announcer}.${name}`]),
  ),
)

/** The settings of a spec as the native API has them: with its names and defaults; null where a group has none. */
export const settingsOfSpec = (
  spec: {
    readonly [N in ConfiguredAnnouncer]?: Values
  },
): { readonly [N in ConfiguredAnnouncer]: Values | null } =>
  Object.fromEntries(
    ALL.map(({ announcer, everyGroupHas, settings }) => {
      const given = spec[announcer]
      if (given === undefined && !everyGroupHas) return [announcer, null]
      return [
        announcer,
        Object.fromEntries(settings.map(({ field, name, default: standard }) => [field, given?.[name] ?? standard])),
      ]
    }),
  ) as { readonly [N in ConfiguredAnnouncer]: Values | null }
