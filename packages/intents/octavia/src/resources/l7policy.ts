import { DEFAULT_CODE } from '../conversion/convert-l7policy.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { isNoop } from '../terms/facts.ts'
import type { OctaviaPolicy } from '../terms/octavia-resources.ts'
import { POLICY_ACTIONS, POLICY_CODES } from '../terms/words.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import {
  integer,
  list,
  nullable,
  numberOneOf,
  oneOf,
  type Stamp,
  text,
  uuid,
  type WireType,
} from '../wire/wire-type.ts'
import { nestedRule, ruleOf } from './l7rule.ts'
import { blankMeta, descriptionField, metaFields, ownerFields } from './meta-fields.ts'
import { nestedPool, type PoolSpec } from './pool.ts'
import type { Resource } from './resource.ts'

/** A policy as a request describes it. */
export interface PolicySpec extends OctaviaPolicy {
  readonly listenerId: string | null
  /** A pool that the same request creates or, in a graph, names. */
  readonly redirectPool: PoolSpec | null
  /** Counted from 1; null leaves the policy where it is. A position behind the last means the end. */
  readonly position: number | null
}

export interface PolicyReading extends OctaviaPolicy {
  readonly snapshot: Snapshot
  readonly listenerId: string
  readonly position: number
}

export const blankPolicy = (stamp: Stamp): PolicySpec => ({
  model: blankMeta(stamp),
  action: 'REJECT',
  redirectPoolId: null,
  redirectUrl: null,
  redirectPrefix: null,
  redirectHttpCode: null,
  rules: [],
  listenerId: null,
  redirectPool: null,
  position: null,
})

/** The starting point for an update of a stored policy. */
export const policySpecOf = (policy: OctaviaPolicy): PolicySpec => ({
  ...policy,
  listenerId: null,
  redirectPool: null,
  position: null,
})

/** Drops fields that do not belong to the action, as Octavia does, and gives a redirect its code. */
export function policyOf({ listenerId: _, redirectPool: __, position: ___, ...policy }: PolicySpec): OctaviaPolicy {
  const { action, redirectPoolId, redirectUrl, redirectPrefix, redirectHttpCode } = policy
  const isRedirect = action === 'REDIRECT_TO_URL' || action === 'REDIRECT_PREFIX'
  return {
    ...policy,
    redirectPoolId: action === 'REDIRECT_TO_POOL' ? redirectPoolId : null,
    redirectUrl: action === 'REDIRECT_TO_URL' ? redirectUrl : null,
    redirectPrefix: action === 'REDIRECT_PREFIX' ? redirectPrefix : null,
    redirectHttpCode: isRedirect ? (redirectHttpCode ?? DEFAULT_CODE) : null,
  }
}

export const isOnline = ({ snapshot, listenerId, model }: Pick<PolicyReading, 'snapshot' | 'listenerId' | 'model'>) =>
  model.enabled && (isNoop(snapshot.lb) || snapshot.operating(listenerId) !== 'OFFLINE')

const row = rowsOf<PolicySpec, PolicyReading>()
const LAST_POSITION = 2_147_483_647

const ownFields: readonly Field<PolicySpec, PolicyReading>[] = [
  ...metaFields<PolicySpec, PolicyReading>().filter(({ name }) => name !== 'operating_status'),
  descriptionField<PolicySpec, PolicyReading>(),
  row('operating_status', text(), { since: 0, read: (reading) => (isOnline(reading) ? 'ONLINE' : 'OFFLINE') }),
  row('action', oneOf(POLICY_ACTIONS), {
    since: 0,
    create: 'required',
    update: true,
    write: (spec, action) => ({ ...spec, action }),
    read: ({ action }) => action,
  }),
  row('redirect_pool_id', nullable(uuid), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    // A request that names a pool also sets the action.
    write: (spec, redirectPoolId) => ({
      ...spec,
      redirectPoolId,
      ...(redirectPoolId === null ? {} : { action: 'REDIRECT_TO_POOL' as const }),
    }),
    read: ({ redirectPoolId }) => redirectPoolId,
  }),
  row('redirect_url', nullable(text({ max: 255 })), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (spec, redirectUrl) => ({ ...spec, redirectUrl }),
    read: ({ redirectUrl }) => redirectUrl,
  }),
  row('redirect_prefix', nullable(text({ max: 255 })), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (spec, redirectPrefix) => ({ ...spec, redirectPrefix }),
    read: ({ redirectPrefix }) => redirectPrefix,
  }),
  row('redirect_http_code', nullable(numberOneOf(POLICY_CODES, 0)), {
    since: 9,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (spec, redirectHttpCode) => ({ ...spec, redirectHttpCode }),
    read: ({ redirectHttpCode }) => redirectHttpCode,
  }),
  row('position', integer(1, LAST_POSITION), {
    since: 0,
    create: 'optional',
    update: true,
    write: (spec, position) => ({ ...spec, position }),
    read: ({ position }) => position,
  }),
  row('rules', list(nestedRule, 100), {
    since: 0,
    create: 'optional',
    default: [],
    write: (spec, rules) => ({ ...spec, rules: rules.map(ruleOf) }),
    read: ({ rules }) => rules.map(({ model: { id } }) => ({ id })),
  }),
]

/** A policy that is created with its listener. It names its pool by content, because the pool has no id yet. */
export const nestedPolicy: WireType<PolicySpec> = nested(
  [
    ...ownFields.filter(({ name }) => name !== 'redirect_pool_id'),
    row('redirect_pool', nullable(nestedPool), {
      since: 0,
      create: 'optional',
      default: null,
      write: (spec, redirectPool) => ({ ...spec, redirectPool }),
    }),
  ],
  blankPolicy,
)

export const policyResource: Resource<PolicySpec, PolicyReading> = {
  word: 'L7 Policy',
  root: 'l7policy',
  plural: 'l7policies',
  argument: 'l7policy_',
  fields: [
    ...ownFields,
    ...ownerFields<PolicySpec, PolicyReading>(),
    row('listener_id', uuid, {
      since: 0,
      create: 'required',
      write: (spec, listenerId) => ({ ...spec, listenerId }),
      read: ({ listenerId }) => listenerId,
    }),
  ],
}
