import { z } from 'zod'
import { AGE_COLUMN, type CrdDraft, conditionsSchema } from './custom-resource-definition.ts'

/** Sample kinds that use every construct our schemas may need. */
export const sharedPool: CrdDraft = {
  group: 'sample.spout.dev',
  kind: 'SharedPool',
  plural: 'sharedpools',
  shortNames: ['shp'],
  categories: ['spout'],
  scope: 'Cluster',
  description: 'Addresses for Services.',
  versions: [
    {
      name: 'v1alpha1',
      spec: z.strictObject({
        ranges: z
          .array(
            z.strictObject({
              // Without a maximum length the server rejects the rule below as too expensive.
              cidr: z.string().max(43).describe('Where addresses are taken from.'),
              gateway: z.union([z.ipv4(), z.ipv6()]).optional(),
              avoid: z.array(z.string().max(64)).max(16).optional(),
            }),
          )
          .min(1)
          .max(64),
        assignment: z.enum(['lowest', 'random']).default('lowest'),
        quarantineSeconds: z.int().min(0).max(86_400).default(300),
        namespaces: z.strictObject({ matchLabels: z.record(z.string(), z.string().max(63)).optional() }).optional(),
        locked: z.boolean().default(false),
      }),
      status: z.strictObject({
        free: z.int().optional(),
        used: z.int().optional(),
        conditions: conditionsSchema.optional(),
      }),
      printerColumns: [
        { name: 'Free', type: 'integer', jsonPath: '.status.free' },
        { name: 'Assignment', type: 'string', jsonPath: '.spec.assignment', priority: 1 },
        AGE_COLUMN,
      ],
      rules: {
        spec: [
          {
            rule: '!oldSelf.locked || self.ranges.size() >= oldSelf.ranges.size()',
            message: 'a locked pool keeps its ranges',
            reason: 'FieldValueForbidden',
          },
        ],
        'spec.ranges[]': [{ rule: 'isCIDR(self.cidr)', message: 'not a CIDR', fieldPath: '.cidr' }],
      },
    },
  ],
}

export const probe: CrdDraft = {
  group: 'sample.spout.dev',
  kind: 'Probe',
  plural: 'probes',
  scope: 'Namespaced',
  description: 'How the health of a workload is checked.',
  versions: [
    {
      name: 'v1',
      spec: z.strictObject({
        port: z.union([z.int(), z.string()]),
        check: z.discriminatedUnion('type', [
          z.strictObject({
            type: z.literal('http'),
            path: z.string().startsWith('/').max(1024),
            codes: z.array(z.int().min(100).max(599)).max(16).optional(),
            timeoutMs: z.int().min(1).default(1000),
          }),
          z.strictObject({ type: z.enum(['tcp', 'tls']), timeoutMs: z.int().min(1).default(1000) }),
        ]),
        weight: z.number().positive().lt(10).nullable().optional(),
        extra: z.looseObject({}).optional(),
      }),
    },
    {
      name: 'v1beta1',
      served: false,
      deprecated: true,
      spec: z.strictObject({ port: z.int() }),
      printerColumns: [],
    },
  ],
}
