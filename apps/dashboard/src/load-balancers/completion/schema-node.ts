/** A part of a JSON Schema, as far as completion needs it. */
export interface SchemaNode {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly anyOf?: readonly SchemaNode[]
  readonly oneOf?: readonly SchemaNode[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
}

/** What a path leads through: the name of a field, or null for any item of a list. */
export type Step = string | null

/** What a value may be: the parts of a choice, without the choice. `null` is among them where it is allowed. */
export function alternativesOf(root: SchemaNode, node: SchemaNode): readonly SchemaNode[] {
  const { $ref, anyOf, oneOf } = node
  if ($ref !== undefined) {
    const target = root.$defs?.[$ref.replace('#/$defs/', '')]
    return target === undefined ? [] : alternativesOf(root, target)
  }
  const parts = anyOf ?? oneOf
  return parts === undefined ? [node] : parts.flatMap((part) => alternativesOf(root, part))
}

/** What may stand at a path; empty where nothing may. */
export function nodesAt(root: SchemaNode, path: readonly Step[]): readonly SchemaNode[] {
  let nodes = alternativesOf(root, root)
  for (const step of path)
    nodes = nodes
      .flatMap(({ items, properties }) => (step === null ? items : ownField(properties, step)) ?? [])
      .flatMap((node) => alternativesOf(root, node))
  return nodes
}

/** A typed word such as `constructor` is no field of ours. */
const ownField = (properties: SchemaNode['properties'], name: string): SchemaNode | undefined =>
  properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined

/** Of several kinds of object those that fit what stands beside; all where none fits. @param beside fields and values */
export function fitting(nodes: readonly SchemaNode[], beside: ReadonlyMap<string, string>): readonly SchemaNode[] {
  const fits = ({ properties }: SchemaNode): boolean =>
    [...beside].every(([name, value]) => {
      const words = wordsOf(ownField(properties, name) ?? {})
      return words.length === 0 || words.map(String).includes(value)
    })
  const found = nodes.filter(fits)
  return found.length === 0 ? nodes : found
}

/** The words that a value must be one of; empty: any. */
export const wordsOf = ({ const: only, enum: words, type }: SchemaNode): readonly unknown[] =>
  words ?? (only !== undefined ? [only] : type === 'boolean' ? [true, false] : [])

/** The names of the fields that may stand at a path. */
export const fieldNames = (root: SchemaNode, path: readonly Step[]): readonly string[] => [
  ...new Set(nodesAt(root, path).flatMap(({ properties = {} }) => Object.keys(properties))),
]
