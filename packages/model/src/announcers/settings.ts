import { z } from 'zod'

/** How one setting of an announcer is presented: in the reference and on the command line. */
export interface SettingWords {
  /** For the generated reference: a sentence that says what the setting decides. */
  readonly description: string
  /** For `spout node-group create` and `set`: the flags as Commander reads them, and the line of the help. */
  readonly option: { readonly flags: string; readonly help: string }
  /** For `spout node-group list` and `show`. `wide`: in `show` and a wide list only. */
  readonly column: { readonly title: string; readonly wide?: true }
}

/**
 * The settings of an announcer: the field of `NodeGroup` that has the announcer's name. Requests, stored objects, the
 * command line, the Kubernetes kind and the generated references derive from them.
 */
export interface AnnouncerSettings<S extends z.ZodObject = z.ZodObject> {
  /**
   * A strict object. If every field has a default, every group has the settings. Otherwise they are null until somebody
   * sets them, and the group cannot use this announcer before that.
   */
  readonly schema: S
  /** In the order of the command line's options and columns. */
  readonly words: { readonly [F in keyof S['shape']]-?: SettingWords }
}

export const announcerSettings = <S extends z.ZodObject>(
  schema: S,
  words: AnnouncerSettings<S>['words'],
): AnnouncerSettings<S> => ({ schema, words })

/** One field of the settings. */
export interface Setting {
  readonly field: string
  /** The schema without its default. */
  readonly schema: z.ZodType
  readonly isRequired: boolean
  /** Undefined if the setting is required. */
  readonly default: unknown
  readonly words: SettingWords
}

/** In the order of the schema. */
export const settingsOf = ({ schema, words }: AnnouncerSettings): readonly Setting[] =>
  Object.entries(schema.shape).map(([field, whole]) => {
    const hasDefault = whole instanceof z.ZodDefault
    return {
      field,
      schema: hasDefault ? (whole.unwrap() as z.ZodType) : (whole as z.ZodType),
      isRequired: !hasDefault,
      default: hasDefault ? whole.def.defaultValue : undefined,
      words: words[field]!,
    }
  })

export const requiredSettings = (settings: AnnouncerSettings): readonly Setting[] =>
  settingsOf(settings).filter(({ isRequired }) => isRequired)

/** The setting's JSON schema, without its default: types and bounds for a program that reads or prints values. */
export const jsonSchemaOf = ({ schema }: Setting): z.core.JSONSchema.BaseSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
