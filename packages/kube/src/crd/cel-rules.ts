import { NotStructural, type SchemaNode } from './structural-schema.ts'

/** A CEL rule (x-kubernetes-validations); `self` is the value at its path, `oldSelf` its previous value. */
export interface CelRule {
  readonly rule: string
  readonly message?: string
  /** A CEL expression for messages that contain values. */
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  /** The field at fault, relative to the path of the rule, such as `.port`. */
  readonly fieldPath?: string
}

/**
 * Rules by path: `spec`, `spec.range`, `spec.ranges[]` for each item, `spec.labels.*` for each value; '' is the object.
 */
export type CelRules = Readonly<Record<string, readonly CelRule[]>>

/** Adds rules to a schema. @throws NotStructural when a path does not exist */
export function withRules(schema: SchemaNode, rules: CelRules): SchemaNode {
  let result = schema
  for (const [path, added] of Object.entries(rules)) {
    const steps = path.split(/\.|(?=\[\])/).filter((step) => step !== '')
    result = addAt(result, steps, added, path)
  }
  return result
}

function addAt(node: SchemaNode, steps: readonly string[], rules: readonly CelRule[], path: string): SchemaNode {
  const [step, ...rest] = steps
  if (step === undefined) {
    const before = (node['x-kubernetes-validations'] ?? []) as readonly CelRule[]
    return { ...node, 'x-kubernetes-validations': [...before, ...rules] }
  }
  const into = (name: string, child: unknown): SchemaNode => {
    if (typeof child !== 'object' || child === null) throw new NotStructural(`${path}: does not exist at "${step}"`)
    return { ...node, [name]: addAt(child as SchemaNode, rest, rules, path) }
  }
  if (step === '[]') return into('items', node['items'])
  if (step === '*') return into('additionalProperties', node['additionalProperties'])
  const properties = (node['properties'] ?? {}) as Readonly<Record<string, SchemaNode>>
  const child = properties[step]
  if (child === undefined) throw new NotStructural(`${path}: does not exist at "${step}"`)
  return { ...node, properties: { ...properties, [step]: addAt(child, rest, rules, path) } }
}
