import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { classQuota, quotaLimits } from '@spout/model'
import { z } from 'zod'
import { GROUP, ready, reason, VERSION } from './words.ts'

const counts = quotaLimits.partial()
const most = quotaLimits.shape.loadBalancers
const { id, name, used } = classQuota.shape

export const tenantQuotaSpec = z.strictObject({
  project: z.string().min(1).max(64).describe('The name of the project. Cannot be changed.'),
  limits: counts.meta({ minProperties: 1 }).describe('The limits to set; others stay as they are.').optional(),
  classes: z
    .record(z.string(), most)
    .meta({ minProperties: 1, maxProperties: 100 })
    .optional()
    .describe(
      'The maximum number of load balancers by class name; 0: the project may not use the class. Others stay as they are.',
    ),
})
export type TenantQuotaSpec = z.input<typeof tenantQuotaSpec>

export const tenantQuotaStatus = z.strictObject({
  projectId: z.string().max(64).optional(),
  limits: counts.optional(),
  used: counts.optional(),
  classes: z
    .array(z.strictObject({ name, limit: most.optional(), used }))
    .optional()
    .describe('Classes for which the project has a limit, or of which it has load balancers.'),
  previous: counts.optional().describe('The limits before this object, which are restored when it is deleted.'),
  previousClasses: z
    .array(z.strictObject({ id, limit: most.optional() }))
    .optional()
    .describe('The same for classes; an entry without a limit: there was none.'),
  conditions: conditionsSchema.optional(),
})

export const tenantQuotaCrd: CrdDraft = {
  group: GROUP,
  kind: 'TenantQuota',
  plural: 'tenantquotas',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'The quota of a project.',
  versions: [
    {
      name: VERSION,
      spec: tenantQuotaSpec,
      status: tenantQuotaStatus,
      printerColumns: [
        { name: 'Project', type: 'string', jsonPath: '.spec.project' },
        { name: 'LBs', type: 'integer', jsonPath: '.status.used.loadBalancers' },
        { name: 'Max-LBs', type: 'integer', jsonPath: '.status.limits.loadBalancers' },
        { name: 'Addresses', type: 'integer', jsonPath: '.status.used.addresses' },
        { name: 'Max-Addresses', type: 'integer', jsonPath: '.status.limits.addresses' },
        ready,
        reason,
        AGE_COLUMN,
      ],
      rules: {
        spec: [
          { rule: 'has(self.limits) || has(self.classes)', message: 'must have limits or classes' },
          {
            rule: 'self.project == oldSelf.project',
            message: 'cannot be changed',
            reason: 'FieldValueForbidden',
            fieldPath: '.project',
          },
        ],
      },
    },
  ],
}
