import { type SchemaNode, wordsOf } from './schema-node.ts'

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
}

const MOST_WORDS = 4

/** What a value may be, and what it is when it is left out: `whole number 0 to 256, default 1`. */
export function valueText(alternatives: readonly SchemaNode[], unset: unknown): string {
  const kinds = [...new Set(alternatives.filter(({ type }) => type !== 'null').map(kindText))].filter(Boolean)
  return [kinds.join(' or '), defaultText(unset)].filter(Boolean).join(', ')
}

function kindText(node: SchemaNode): string {
  const words = node.type === 'boolean' ? [] : wordsOf(node)
  if (words.length > 0) return words.length > MOST_WORDS ? `one of ${words.length} words` : words.join(', ')
  const type = TYPES[node.type ?? ''] ?? ''
  const { minimum, maximum } = node
  if (minimum === undefined || maximum === undefined) return type
  return `${type} ${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}`
}

/** Empty lists, objects and texts say nothing. */
function defaultText(unset: unknown): string {
  if (unset === undefined || unset === null || unset === '') return ''
  if (typeof unset !== 'object') return `default ${String(unset)}`
  return Array.isArray(unset) && unset.length > 0 ? `default ${unset.map(textIn).join(', ')}` : ''
}

const textIn = (item: unknown): string => (typeof item === 'object' ? JSON.stringify(item) : String(item))
