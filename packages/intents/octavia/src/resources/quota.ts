import type { QuotaResource } from '@spout/model'
import { type Field, rowsOf } from '../wire/field.ts'
import { integer } from '../wire/wire-type.ts'
import { projectId } from './meta-fields.ts'
import type { Resource } from './resource.ts'

export type Limits = Readonly<Record<QuotaResource, number>>

/** Limits that a request changes. `default` restores the default limit. */
export type LimitEdits = Readonly<Partial<Record<QuotaResource, number | 'default'>>>

export interface QuotaReading {
  readonly projectId: string
  readonly limits: Limits
}

/** Every limit is finite here: Octavia's -1 becomes the largest one, and the reply shows it. */
export const LARGEST_LIMIT = 1_000_000

const row = rowsOf<LimitEdits, QuotaReading>()

const limitField = (name: string, resource: QuotaResource, since = 0): Field<LimitEdits, QuotaReading> => {
  const limit = integer(-1, LARGEST_LIMIT)
  return row<number | 'default'>(name, limit, {
    since,
    update: true,
    ifNull: 'default',
    write: (edits, value) => ({ ...edits, [resource]: value === -1 ? LARGEST_LIMIT : value }),
    read: ({ limits }) => limits[resource],
  })
}

export const quotaResource: Resource<LimitEdits, QuotaReading> = {
  word: 'Quotas',
  root: 'quota',
  plural: 'quotas',
  argument: 'quotas',
  fields: [
    row('project_id', projectId, { since: 0, read: (reading) => reading.projectId }),
    row('tenant_id', projectId, { since: 0, read: (reading) => reading.projectId }),
    limitField('loadbalancer', 'loadBalancers'),
    // Octavia has two names for one limit, and clients use either.
    limitField('load_balancer', 'loadBalancers'),
    limitField('listener', 'listeners'),
    limitField('pool', 'pools'),
    limitField('member', 'members'),
    limitField('healthmonitor', 'healthMonitors'),
    limitField('health_monitor', 'healthMonitors'),
    limitField('l7policy', 'routes', 19),
    limitField('l7rule', 'routeConditions', 19),
  ],
}
