import type { Completion } from './completion.ts'
import { type Nameable, NOTHING_NAMEABLE } from './nameable.ts'
import { namesFor } from './names-for.ts'
import { type Place, placeAt } from './place.ts'
import { alternativesOf, fitting, nodesAt, type SchemaNode, wordsOf } from './schema-node.ts'
import { valueText } from './value-text.ts'

export interface Completions {
  /** Offsets of what is replaced. */
  readonly from: number
  readonly to: number
  readonly items: readonly Completion[]
}

const NONE: Completions = { from: 0, to: 0, items: [] }

/**
 * What may be typed at a place of a YAML document. The document may be half typed and wrong in any way.
 * @param offset of the cursor in the text
 * @param nameable what fields can name that name something
 */
export function completionsAt(
  text: string,
  offset: number,
  schema: SchemaNode,
  nameable: Nameable = NOTHING_NAMEABLE,
): Completions {
  const place = placeAt(text, offset)
  if (place === null) return NONE
  const nodes = nodesAt(schema, place.path)
  const all =
    place.key === null
      ? [...fields(schema, nodes, place), ...listItems(nodes, place, nameable)]
      : values(schema, nodes, place, nameable)
  return { from: place.from, to: place.to, items: bestFirst(all, place.word) }
}

/** Those that begin with the word, then those that contain it. An id is found by its beginning, too. */
function bestFirst(all: readonly Completion[], word: string): readonly Completion[] {
  const wanted = word.toLowerCase()
  const at = ({ label, insert }: Completion): number =>
    insert.toLowerCase().startsWith(wanted) ? 0 : label.toLowerCase().indexOf(wanted)
  const found = all.filter((one) => at(one) >= 0)
  return [...found.filter((one) => at(one) === 0), ...found.filter((one) => at(one) > 0)]
}

/** Fields of the object, what it needs first. Where a list begins, those of its first item, behind a dash. */
function fields(schema: SchemaNode, around: readonly SchemaNode[], place: Place): readonly Completion[] {
  const objects = around.filter(({ properties }) => properties !== undefined)
  if (objects.length > 0) return fieldsOf(schema, fitting(objects, place.beside), place, '')
  const items = around.flatMap(({ items }) => (items === undefined ? [] : alternativesOf(schema, items)))
  return fieldsOf(schema, items, { ...place, column: place.column + 2, beside: new Map() }, '- ')
}

function fieldsOf(
  schema: SchemaNode,
  objects: readonly SchemaNode[],
  { beside, column, hasColon }: Place,
  dash: string,
): readonly Completion[] {
  const found = new Map<string, SchemaNode[]>()
  for (const { properties = {} } of objects)
    for (const [name, node] of Object.entries(properties))
      if (!beside.has(name)) found.set(name, [...(found.get(name) ?? []), node])
  const isNeeded = (name: string): boolean => objects.every(({ required }) => required?.includes(name) === true)
  const all = [...found].map(([name, nodes]) => {
    const alternatives = nodes.flatMap((node) => alternativesOf(schema, node))
    const [{ default: unset, description = '' } = {}] = nodes
    const needed = isNeeded(name)
    return {
      needed,
      completion: {
        label: name,
        insert: `${dash}${name}${hasColon ? '' : behind(alternatives, column)}`,
        detail: [needed ? 'required' : '', valueText(alternatives, unset)].filter(Boolean).join(', '),
        description,
      },
    }
  })
  return [...all.filter(({ needed }) => needed), ...all.filter(({ needed }) => !needed)].map(
    ({ completion }) => completion,
  )
}

/** The colon, and where the value goes: on the same line, or below. */
function behind(alternatives: readonly SchemaNode[], column: number): string {
  const below = `:\n${' '.repeat(column + 2)}`
  if (alternatives.some(({ type }) => type === 'array')) return `${below}- `
  return alternatives.some(({ properties }) => properties !== undefined) ? below : ': '
}

/** What an item of a list may be. */
function listItems(around: readonly SchemaNode[], { path }: Place, nameable: Nameable): readonly Completion[] {
  const list = path.at(-1) === null ? path.at(-2) : undefined
  const isText = around.some(({ type }) => type === 'string')
  return [...words(around), ...(isText && list != null ? namesFor(list, nameable) : [])]
}

function values(
  schema: SchemaNode,
  around: readonly SchemaNode[],
  { key, beside }: Place,
  nameable: Nameable,
): readonly Completion[] {
  const nodes = fitting(around, beside).flatMap(({ properties = {} }) =>
    key !== null && Object.hasOwn(properties, key) ? (properties[key] ?? []) : [],
  )
  const alternatives = nodes.flatMap((node) => alternativesOf(schema, node))
  const isText = alternatives.some(({ type }) => type === 'string')
  return [...words(alternatives, nodes[0]?.default), ...(isText && key !== null ? namesFor(key, nameable) : [])]
}

/** The words that a value may be one of. A list of them is not typed in one line. */
function words(alternatives: readonly SchemaNode[], unset?: unknown): readonly Completion[] {
  const isNullable = alternatives.some(({ type }) => type === 'null')
  const all = [...new Set(alternatives.flatMap(wordsOf).map(String))]
  if (all.length === 0) return []
  return [...all, ...(isNullable ? ['null'] : [])].map((label) => ({
    label,
    insert: /^[\d.]+$/.test(label) && alternatives.every(({ type }) => type === 'string') ? `"${label}"` : label,
    detail: unset !== undefined && String(unset) === label ? 'default' : '',
    description: '',
  }))
}
