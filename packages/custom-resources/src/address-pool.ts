import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { addressPool } from '@spout/model'
import { z } from 'zod'
import { IN_ORDER, isAddress, isPrefix } from './address-rules.ts'
import { addressText, apiName, GROUP, idOfApi, ready, reason, VERSION } from './words.ts'

export const addressPoolSpec = z.strictObject({
  subnet: addressText.describe('The subnet that the addresses lie in, as their neighbours see it: 198.51.100.0/24.'),
  addresses: z
    .array(
      z.strictObject({
        cidr: addressText.optional().describe('All addresses of a prefix.'),
        first: addressText.optional().describe('With last: all addresses from here ...'),
        last: addressText.optional().describe('... to here.'),
      }),
    )
    .min(1)
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('What load balancers may get: each entry is a prefix, or first and last.'),
  gateway: addressText.optional().describe('The gateway of the subnet; told to clients of the Neutron facade.'),
  projects: z
    .array(apiName)
    .min(1)
    .max(100)
    .optional()
    .describe('Names of the projects that may take from it; left out, every project may.'),
  quarantineSeconds: addressPool.shape.quarantineSeconds
    .default(300)
    .describe('How long an address that was given up rests before another project gets it.'),
  draining: z.boolean().default(false).describe('It gives no new addresses; those in use stay.'),
})
export type AddressPoolSpec = z.input<typeof addressPoolSpec>

const count = z.int().min(0)
export const addressPoolStatus = z.strictObject({
  id: idOfApi,
  addresses: z
    .strictObject({
      total: count,
      used: count,
      resting: count.describe('Given up lately: only the project that had one gets it again.'),
      free: count,
    })
    .optional()
    .describe('Counts of addresses; more than 9007199254740991 are shown as that many.'),
  conditions: conditionsSchema.optional(),
})

const FIXED = ['subnet', 'addresses', 'gateway', 'projects', 'quarantineSeconds'] as const
const isUnchanged = (field: string): string => {
  const [now, before] = [`self.spec.${field}`, `oldSelf.spec.${field}`]
  return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`
}

export const addressPoolCrd: CrdDraft = {
  group: GROUP,
  kind: 'AddressPool',
  plural: 'addresspools',
  shortNames: ['addrpool'],
  categories: ['spout'],
  scope: 'Cluster',
  description:
    'Public addresses that load balancers may have. Once it was made only draining can be changed: make another one.',
  versions: [
    {
      name: VERSION,
      spec: addressPoolSpec,
      status: addressPoolStatus,
      printerColumns: [
        { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' },
        { name: 'Used', type: 'integer', jsonPath: '.status.addresses.used' },
        { name: 'Free', type: 'integer', jsonPath: '.status.addresses.free' },
        { name: 'Draining', type: 'boolean', jsonPath: '.spec.draining' },
        ready,
        reason,
        AGE_COLUMN,
      ],
      rules: {
        // The native API has no other change of a pool: it could exclude addresses in use.
        '': [
          {
            rule: `!has(oldSelf.status) || !has(oldSelf.status.id) || (${FIXED.map(isUnchanged).join(' && ')})`,
            message: 'cannot be changed once the pool was made, but for draining: make another pool for more addresses',
            reason: 'FieldValueForbidden',
            fieldPath: '.spec',
          },
        ],
        spec: [
          isPrefix('subnet'),
          isAddress('gateway'),
          {
            rule: '!has(self.gateway) || !isIP(self.gateway) || !isCIDR(self.subnet) || cidr(self.subnet).containsIP(self.gateway)',
            message: 'lies outside of subnet',
            fieldPath: '.gateway',
          },
          {
            rule: [
              '!isCIDR(self.subnet) || self.addresses.all(a,',
              '(!has(a.cidr) || !isCIDR(a.cidr) || cidr(self.subnet).containsCIDR(a.cidr))',
              '&& (!has(a.first) || !isIP(a.first) || cidr(self.subnet).containsIP(a.first))',
              '&& (!has(a.last) || !isIP(a.last) || cidr(self.subnet).containsIP(a.last)))',
            ].join(' '),
            message: 'an entry lies outside of subnet',
            fieldPath: '.addresses',
          },
        ],
        'spec.addresses[]': [
          {
            rule: 'has(self.first) == has(self.last) && has(self.cidr) != has(self.first)',
            message: 'must have either cidr, or first and last',
          },
          isPrefix('cidr'),
          isAddress('first'),
          isAddress('last'),
          IN_ORDER,
        ],
      },
    },
  ],
}
