import { isDeepStrictEqual } from 'node:util'

/** A node of a JSON schema. */
export type SchemaNode = Readonly<Record<string, unknown>>

/** The schema cannot be expressed as a structural schema of Kubernetes. The message names the field. */
export class NotStructural extends Error {
  override readonly name = 'NotStructural'
}

/** Keywords of JSONSchemaProps (apiextensions.k8s.io/v1) that a structural schema may have anywhere. */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'description', 'title', 'format', 'default', 'nullable', 'enum', 'pattern', 'example'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'required'],
])
/** Keywords without a meaning for the API server. */
const DROPPED: ReadonlySet<string> = new Set([
  ...['$schema', '$comment', 'id', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'propertyNames'],
])
/** Keywords that are not allowed inside `oneOf`, `anyOf` and the like. */
const OUTSIDE_ONLY: ReadonlySet<string> = new Set(['type', 'description', 'title', 'default', 'nullable', 'example'])
/** Formats that Kubernetes knows. Others of zod are dropped, because the patterns beside them express the same. */
const KNOWN_FORMATS: ReadonlySet<string> = new Set([
  ...['ipv4', 'ipv6', 'cidr', 'mac', 'uuid', 'uri', 'hostname', 'email', 'byte', 'date', 'date-time', 'duration'],
  ...['int32', 'int64', 'float', 'double'],
])

const isNode = (value: unknown): value is SchemaNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts the output of `z.toJSONSchema` (target openapi-3.0) to a structural schema (apiextensions.k8s.io/v1): every
 * field has its type outside unions, and only keywords that the server accepts are left.
 *
 * Fields `x-kubernetes-...` are kept; `.meta` of a zod schema sets them.
 *
 * @param at the path in the object, for errors
 * @throws NotStructural
 */
export function structural(node: SchemaNode, at: string): SchemaNode {
  if (node['$ref'] !== undefined || node['definitions'] !== undefined)
    throw new NotStructural(`${at}: refers to itself or another schema`)
  if (node['allOf'] !== undefined) throw new NotStructural(`${at}: is an intersection that cannot be merged`)
  const united = (node['oneOf'] ?? node['anyOf']) as readonly SchemaNode[] | undefined
  if (united !== undefined) return unionNode(node, united, at)
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(node)) {
    if (name.startsWith('x-kubernetes-') || KEPT.has(name)) result[name] = value
    else if (!DROPPED.has(name) && !['properties', 'items', 'additionalProperties'].includes(name))
      throw new NotStructural(`${at}: "${name}" is not known to Kubernetes`)
  }
  // The server uses RE2, which has neither.
  if (typeof node['pattern'] === 'string' && /\(\?(<?[=!])|\\[1-9]/.test(node['pattern']))
    throw new NotStructural(`${at}: the pattern has a lookaround or a backreference, which the server does not support`)
  dropUnsaid(result)
  const properties = node['properties'] as Readonly<Record<string, SchemaNode>> | undefined
  const open = node['additionalProperties']
  if (properties !== undefined && Object.keys(properties).length > 0)
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, structural(value, `${at}.${name}`)]),
    )
  else if (isNode(open) && Object.keys(open).length > 0) result['additionalProperties'] = structural(open, `${at}.*`)
  // The server prunes unknown fields of an object unless the schema says that they are kept.
  if (isNode(open) && Object.keys(open).length === 0) result['x-kubernetes-preserve-unknown-fields'] = true
  if (isNode(node['items'])) result['items'] = structural(node['items'], `${at}[]`)
  if (result['type'] === undefined && result['x-kubernetes-preserve-unknown-fields'] !== true)
    throw new NotStructural(`${at}: has no type`)
  return result
}

/** Removes bounds that only mean "a safe integer", and formats and defaults that the server does not know. */
function dropUnsaid(node: Record<string, unknown>): void {
  if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum']
  if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum']
  // The server drops it, so every apply of the definition would be a change.
  if (node['default'] === null) delete node['default']
  if (typeof node['format'] === 'string' && !KNOWN_FORMATS.has(node['format'])) delete node['format']
}

function unionNode(node: SchemaNode, members: readonly SchemaNode[], at: string): SchemaNode {
  const rest = Object.fromEntries(Object.entries(node).filter(([name]) => name !== 'oneOf' && name !== 'anyOf'))
  const types = [...new Set(members.map((member) => member['type']))].sort()
  if (isDeepStrictEqual(types, ['integer', 'string'])) {
    for (const [name] of members.flatMap((member) => Object.entries(member)))
      if (name === 'enum') throw new NotStructural(`${at}: an int-or-string cannot be an enumeration`)
    return { ...kept(rest), 'x-kubernetes-int-or-string': true }
  }
  if (types.length !== 1) throw new NotStructural(`${at}: a union of several types`)
  if (types[0] === 'object') return objectUnion(kept(rest), members, at)
  const [type] = types
  if (type === 'array') throw new NotStructural(`${at}: a union of arrays`)
  const anyOf = members.map((member, index) => validations(structural(member, `${at}|${index}`)))
  // A member without validations accepts everything, so the union needs none.
  return { ...kept(rest), type, ...(anyOf.some((member) => Object.keys(member).length === 0) ? {} : { anyOf }) }
}

const kept = (node: SchemaNode): SchemaNode =>
  Object.fromEntries(Object.entries(node).filter(([name]) => name.startsWith('x-kubernetes-') || KEPT.has(name)))

const validations = (node: SchemaNode): SchemaNode =>
  Object.fromEntries(Object.entries(node).filter(([name]) => !OUTSIDE_ONLY.has(name)))

/**
 * A union of objects with a discriminating field. All properties are outside of `oneOf`, because types and defaults are
 * allowed only there. Inside, each variant has its value of the discriminating field, its required fields, and the
 * fields of other variants as forbidden.
 */
function objectUnion(rest: SchemaNode, members: readonly SchemaNode[], at: string): SchemaNode {
  const variants = members.map((member) => structural(member, at))
  const properties: Record<string, SchemaNode> = {}
  for (const variant of variants)
    for (const [name, property] of Object.entries(propertiesOf(variant)))
      properties[name] = mergedProperty(properties[name], property, `${at}.${name}`)
  const required = Object.keys(properties).filter((name) => variants.every((variant) => requires(variant, name)))
  const oneOf = variants.map((variant) => {
    const own = propertiesOf(variant)
    const told = Object.entries(own).filter(([name, { enum: values }]) => isTold(properties[name], values))
    if (told.length === 0) throw new NotStructural(`${at}: no field tells the variants of the union apart`)
    const foreign = Object.keys(properties).filter((name) => !Object.hasOwn(own, name))
    return {
      properties: Object.fromEntries(told.map(([name, { enum: values }]) => [name, { enum: values }])),
      required: Object.keys(own).filter((name) => requires(variant, name)),
      ...(foreign.length === 0 ? {} : { not: { anyOf: foreign.map((name) => ({ required: [name] })) } }),
    }
  })
  return { ...rest, type: 'object', properties, ...(required.length === 0 ? {} : { required }), oneOf }
}

const propertiesOf = (node: SchemaNode): Readonly<Record<string, SchemaNode>> =>
  (node['properties'] ?? {}) as Readonly<Record<string, SchemaNode>>

const requires = (node: SchemaNode, name: string): boolean =>
  ((node['required'] ?? []) as readonly string[]).includes(name)

/** Whether a field discriminates: whether this variant accepts only some of the values of all variants. */
const isTold = (whole: SchemaNode | undefined, values: unknown): boolean =>
  Array.isArray(values) && (whole?.['enum'] as readonly unknown[] | undefined)?.length !== values.length

function mergedProperty(before: SchemaNode | undefined, property: SchemaNode, at: string): SchemaNode {
  if (before === undefined || isDeepStrictEqual(before, property)) return property
  const { enum: one, ...restOfOne } = before
  const { enum: other, ...restOfOther } = property
  if (Array.isArray(one) && Array.isArray(other) && isDeepStrictEqual(restOfOne, restOfOther))
    return { ...before, enum: [...new Set([...one, ...other])] }
  throw new NotStructural(`${at}: differs between the variants of the union`)
}
