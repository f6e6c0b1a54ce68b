import {
  CONFIGURED_ANNOUNCERS,
  findAnnouncer,
  hasAllDefaults,
  jsonSchemaOf,
  type Setting,
  settingsOf,
} from '@spout/model'
import { at, type Column, commaList, type Field, numberList, type Row, wholeNumber, yesOrNo } from './resource.ts'

/** Every setting of every announcer, in the order in which its announcer lists them. */
const ALL = CONFIGURED_ANNOUNCERS.flatMap(({ name: announcer, settings }) => {
  const order = Object.keys(settings.words)
  return settingsOf(settings)
    .toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field))
    .map((setting) => ({ announcer, settings, setting, path: `${announcer}.${setting.field}` }))
})

/** Options of `node-group create` and `set`. */
export const announcerFields: readonly Field[] = ALL.map(({ setting, path }) => ({
  flags: setting.words.option.flags,
  description: setting.words.option.help,
  field: path,
  parse: parserOf(setting),
}))

/** Values that cannot be parsed are passed on, and the server refuses them. */
function parserOf(setting: Setting): Field['parse'] {
  const { type, items } = jsonSchemaOf(setting)
  if (type === 'integer') return wholeNumber
  if (type === 'boolean') return yesOrNo
  if (type === 'array')
    return typeof items === 'object' && 'type' in items && items.type === 'integer' ? numberList : commaList
  return undefined
}

/** Columns of `node-group list` and `show`. @param wide those of a wide list, or the others */
export const announcerColumns = (wide: boolean): readonly Column[] =>
  ALL.filter(({ setting }) => (setting.words.column.wide ?? false) === wide).map(
    ({ announcer, settings, setting, path }) => ({
      title: setting.words.column.title,
      wide,
      // Settings that every group has mean nothing where another announcer announces.
      value: (row) => (hasAllDefaults(settings) && !isUsed(announcer, row) ? null : at(row, path)),
    }),
  )

/** Whether the group announces, or elects the masters of its shards, by the announcer. Also if only the server knows it. */
function isUsed(announcer: string, row: Row): boolean {
  const own = findAnnouncer(String(row.announcer))
  return own === undefined || own.name === announcer || own.electedBy === announcer
}
