import { NotStructural, type SchemaNode } from './structural-schema.ts'

/** A rule in CEL (x-kubernetes-validations); `self` is the value at its path, `oldSelf` what it was. */
export interface CelRule {
  readonly rule: string
  readonly message?: string
  /** CEL too, for messages that say values. */
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  /** Below the path, such as `.port`. */
  readonly fieldPath?: string
}

/** Rules by path: `spec`, `spec.range`, `spec.ranges[]` for each item, `spec.labels.*` for each value; '' is the object. */
export type CelRules = Readonly<Record<string, readonly CelRule[]>>

/** @throws NotStructural when a path leads to nothing */
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
    if (typeof child !== 'object' || child === null) throw new NotStructural(`${path}: leads to nothing at "${step}"`)
    return { ...node, [name]: addAt(child as SchemaNode, rest, rules, path) }
  }
  if (step === '[]') return into('items', node['items'])
  if (step === '*') return into('additionalProperties', node['additionalProperties'])
  const properties = (node['properties'] ?? {}) as Readonly<Record<string, SchemaNode>>
  const child = properties[step]
  if (child === undefined) throw new NotStructural(`${path}: leads to nothing at "${step}"`)
  return { ...node, properties: { ...properties, [step]: addAt(child, rest, rules, path) } }
}
