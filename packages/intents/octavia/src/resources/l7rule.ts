import type { Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaRule } from '../terms/octavia-resources.ts'
import { RULE_COMPARES, RULE_TYPES } from '../terms/words.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import { boolean, nullable, oneOf, type Stamp, text, uuid, type WireType } from '../wire/wire-type.ts'
import { blankMeta, metaFields, ownerFields } from './meta-fields.ts'
import type { Resource } from './resource.ts'

/** A rule with the name and description that every child has and rules do not. */
export interface RuleSpec extends Omit<OctaviaRule, 'model'> {
  readonly model: OctaviaRule['model'] & { readonly name: string; readonly description: string }
}

export interface RuleReading extends RuleSpec {
  readonly snapshot: Snapshot
  readonly policyId: string
  /** Whether the policy of the rule is in effect. */
  readonly isPolicyOnline: boolean
}

const NAMELESS = { name: '', description: '' } as const

export const blankRule = (stamp: Stamp): RuleSpec => ({
  model: blankMeta(stamp),
  type: 'PATH',
  compare: 'EQUAL_TO',
  key: null,
  value: '',
  invert: false,
})

export const ruleSpecOf = (rule: OctaviaRule): RuleSpec => ({ ...rule, model: { ...rule.model, ...NAMELESS } })

export function ruleOf({ model, ...rule }: RuleSpec): OctaviaRule {
  const { name: _, description: __, ...own } = model
  return { ...rule, model: own }
}

const row = rowsOf<RuleSpec, RuleReading>()
const line = text({ max: 255, pattern: /^[^\r\n]*$/ })

const ownFields: readonly Field<RuleSpec, RuleReading>[] = [
  ...metaFields<RuleSpec, RuleReading>().filter(({ name }) => name !== 'name' && name !== 'operating_status'),
  row('operating_status', text(), {
    since: 0,
    read: ({ model, isPolicyOnline }) => (model.enabled && isPolicyOnline ? 'ONLINE' : 'OFFLINE'),
  }),
  row('type', oneOf(RULE_TYPES), {
    since: 0,
    create: 'required',
    update: true,
    write: (spec, type) => ({ ...spec, type }),
    read: ({ type }) => type,
  }),
  row('compare_type', oneOf(RULE_COMPARES), {
    since: 0,
    create: 'required',
    update: true,
    write: (spec, compare) => ({ ...spec, compare }),
    read: ({ compare }) => compare,
  }),
  row('key', nullable(line), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (spec, key) => ({ ...spec, key }),
    read: ({ key }) => key,
  }),
  row('value', line, {
    since: 0,
    create: 'required',
    update: true,
    write: (spec, value) => ({ ...spec, value }),
    read: ({ value }) => value,
  }),
  row('invert', boolean, {
    since: 0,
    create: 'optional',
    update: true,
    default: false,
    write: (spec, invert) => ({ ...spec, invert }),
    read: ({ invert }) => invert,
  }),
]

/** A rule of a policy that is created with it. */
export const nestedRule: WireType<RuleSpec> = nested(ownFields, blankRule)

export const ruleResource: Resource<RuleSpec, RuleReading> = {
  word: 'L7 Rule',
  root: 'rule',
  plural: 'rules',
  argument: 'rule_',
  fields: [
    ...ownFields,
    ...ownerFields<RuleSpec, RuleReading>(),
    // openstacksdk sends it, although the path names the policy.
    row('l7policy_id', uuid, { since: 0, asked: ({ policyId }) => [policyId] }),
  ],
}
