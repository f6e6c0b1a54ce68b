import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** The parts of a JSON schema that options are read from. */
export interface SchemaNode {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly oneOf?: readonly SchemaNode[]
  readonly anyOf?: readonly SchemaNode[]
  readonly allOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/**
 * One option that users may choose: a field, or one of its values. `within` is the field and word that choose the
 * variant of a union: `on` of a condition, `type` of a filter. `value` is one of an enumeration; undefined stands for
 * the field.
 */
export interface Option {
  readonly within: { readonly field: string; readonly word: string } | undefined
  readonly field: string
  readonly value: string | undefined
}

export const nameOf = ({ within, field, value }: Option): string =>
  `${within === undefined ? '' : `${within.field} ${within.word}: `}${field}${value === undefined ? '' : ` ${value}`}`

/** Every field below a schema, and every value of each enumeration. */
export function optionsOf(schema: SchemaNode): readonly Option[] {
  const found = new Map<string, Option>()
  const add = (option: Option) => found.set(nameOf(option), option)
  const resolve = (node: SchemaNode): SchemaNode =>
    node.$ref === undefined ? node : (schema.$defs?.[node.$ref.split('/').at(-1) ?? ''] ?? {})
  const branches = ({ oneOf = [], anyOf = [], allOf = [] }: SchemaNode): readonly SchemaNode[] => [
    ...oneOf,
    ...anyOf,
    ...allOf,
  ]
  function ofObject(properties: Readonly<Record<string, SchemaNode>>): void {
    const [chooser] = Object.entries(properties).filter(([field, node]) => CHOOSERS.has(field) && 'const' in node)
    const within = chooser && { field: chooser[0], word: String(chooser[1].const) }
    for (const [field, node] of Object.entries(properties)) {
      if (within?.field !== field) add({ within, field, value: undefined })
      ofField(node, { within: within?.field === field ? undefined : within, field })
    }
  }
  function ofField(given: SchemaNode, option: Pick<Option, 'within' | 'field'>): void {
    const node = resolve(given)
    for (const value of node.enum ?? ('const' in node ? [node.const] : []))
      if (typeof value === 'string' || typeof value === 'number') add({ ...option, value: String(value) })
    for (const branch of branches(node)) ofField(branch, option)
    if (node.items !== undefined) ofField(node.items, option)
    if (node.properties !== undefined) ofObject(node.properties)
  }
  ofField(schema, { within: undefined, field: '' })
  return [...found.values()]
}

/** Fields by which unions choose. */
const CHOOSERS: ReadonlySet<string> = new Set(['type', 'on'])

/** What tests write into objects: `field`, `field value`, and both with `within` of the same object. */
export function writtenIn(files: readonly string[], root: string): ReadonlySet<string> {
  const written = new Set<string>()
  for (const file of files)
    collect(parseAst(readFileSync(path.join(root, file), 'utf8'), { lang: 'ts' }) as unknown as Syntax, written)
  return written
}

/** A node of a syntax tree (ESTree). */
type Syntax = Readonly<Record<string, unknown>>
const isSyntax = (value: unknown): value is Syntax => typeof value === 'object' && value !== null
function childrenOf(node: Syntax): readonly Syntax[] {
  const children: Syntax[] = []
  for (const value of Object.values(node))
    if (Array.isArray(value)) children.push(...value.filter(isSyntax))
    else if (isSyntax(value)) children.push(value)
  return children
}

function collect(node: Syntax, written: Set<string>): void {
  if (node.type === 'ObjectExpression') {
    const fields = childrenOf({ properties: node.properties }).flatMap(({ type, key, value }) => {
      const { name, value: text = name } = (key ?? {}) as { readonly name?: string; readonly value?: unknown }
      return type === 'Property' ? [{ field: String(text), words: wordsOf(value as Syntax) }] : []
    })
    const withins = fields.flatMap(({ field, words }) =>
      CHOOSERS.has(field) ? words.map((word) => ({ field, word })) : [],
    )
    for (const { field, words } of fields)
      for (const within of [undefined, ...withins])
        for (const value of [undefined, ...words]) written.add(nameOf({ within, field, value }))
  }
  for (const child of childrenOf(node)) collect(child, written)
}

/** Words and numbers that an expression may evaluate to. Those of objects and functions inside it do not count. */
function wordsOf(node: Syntax): readonly string[] {
  if (node.type === 'Literal') return [String(node.value)]
  return WITH_WORDS_OF_THEIR_OWN.has(String(node.type)) ? [] : childrenOf(node).flatMap(wordsOf)
}
const WITH_WORDS_OF_THEIR_OWN: ReadonlySet<string> = new Set([
  ...['ObjectExpression', 'ArrowFunctionExpression', 'FunctionExpression'],
])

/** Files of the tests in labs and of the whole product, and their helpers. */
export const labFiles = (root: string): readonly string[] =>
  globSync(['{packages,apps}/**/src/**/*.lab.test.ts', 'packages/dataplane/src/testing/**/*.ts', 'e2e/**/*.ts'], {
    cwd: root,
  })
