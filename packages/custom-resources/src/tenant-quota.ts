import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { quotaLimits } from '@spout/model'
import { z } from 'zod'
import { GROUP, ready, reason, VERSION } from './words.ts'

const counts = quotaLimits.partial()

export const tenantQuotaSpec = z.strictObject({
  project: z.string().min(1).max(64).describe('The name of the project. Cannot be changed.'),
  limits: counts.meta({ minProperties: 1 }).describe('What it may have; what is left out stays as it is.'),
})
export type TenantQuotaSpec = z.input<typeof tenantQuotaSpec>

export const tenantQuotaStatus = z.strictObject({
  projectId: z.string().max(64).optional(),
  limits: counts.optional(),
  used: counts.optional(),
  previous: counts.optional().describe('Limits from before this object: they come back when it goes.'),
  conditions: conditionsSchema.optional(),
})

export const tenantQuotaCrd: CrdDraft = {
  group: GROUP,
  kind: 'TenantQuota',
  plural: 'tenantquotas',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'What a project may have.',
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
