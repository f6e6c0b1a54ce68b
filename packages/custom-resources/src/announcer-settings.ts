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

/** How a setting differs from the model's: in its name, or because a structural schema cannot express its values. */
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
      'must have a different id for each shard',
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

/** The settings of one announcer, as the kind NodeGroup has them. */
interface KindSettings {
  readonly announcer: ConfiguredAnnouncer
  /** True: a group without the settings has the defaults. False: it has none, and must use another announcer. */
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

/** The fields of a NodeGroup's spec for settings of announcers. */
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

/** Fields that have another name in the kind than in the native API, by path: `bgp.localASN` for `bgp.localAs`. */
export const renamedSettings: Readonly<Record<string, string>> = Object.fromEntries(
  ALL.flatMap(({ announcer, settings }) =>
    settings
      .filter(({ field, name }) => field !== name)
      .map(({ field, name }) => [`${announcer}.${field}`, `${announcer}.${name}`]),
  ),
)

/** The settings of a spec in the form of the native API: with its names and all defaults; null for none. */
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
