import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { addressPool } from '@spout/model'
import { z } from 'zod'
import { IN_ORDER, isAddress, isPrefix } from './address-rules.ts'
import { addressText, apiName, GROUP, idOfApi, ready, reason, VERSION } from './words.ts'

export const addressPoolSpec = z.strictObject({
  subnet: addressText.describe('The subnet of the addresses, such as 198.51.100.0/24.'),
  addresses: z
    .array(
      z.strictObject({
        cidr: addressText.optional().describe('All addresses of this prefix.'),
        first: addressText.optional().describe('All addresses from this one ...'),
        last: addressText.optional().describe('... to this one.'),
      }),
    )
    .min(1)
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('The addresses that load balancers may get. An entry is a prefix, or a range with first and last.'),
  gateway: addressText.optional().describe('The gateway of the subnet, which the Neutron facade shows.'),
  projects: z
    .array(apiName)
    .min(1)
    .max(100)
    .optional()
    .describe('Names of the projects that may use the pool; left out: all projects.'),
  quarantineSeconds: addressPool.shape.quarantineSeconds
    .default(300)
    .describe('How long a released address is kept from other projects.'),
  draining: z.boolean().default(false).describe('No new addresses are taken from the pool; those in use stay.'),
})
export type AddressPoolSpec = z.input<typeof addressPoolSpec>

const count = z.int().min(0)
export const addressPoolStatus = z.strictObject({
  id: idOfApi,
  addresses: z
    .strictObject({
      total: count,
      used: count,
      resting: count.describe('Released addresses in quarantine. Only the project that had one can get it.'),
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
    'Public addresses for load balancers. Once the pool exists, only draining can be changed: make another pool for more addresses.',
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
        // The native API allows no other change of a pool, because it could exclude addresses in use.
        '': [
          {
            rule: `!has(oldSelf.status) || !has(oldSelf.status.id) || (${FIXED.map(isUnchanged).join(' && ')})`,
            message: 'only draining can be changed once the pool exists: make another pool for more addresses',
            reason: 'FieldValueForbidden',
            fieldPath: '.spec',
          },
        ],
        spec: [
          isPrefix('subnet'),
          isAddress('gateway'),
          {
            rule: '!has(self.gateway) || !isIP(self.gateway) || !isCIDR(self.subnet) || cidr(self.subnet).containsIP(self.gateway)',
            message: 'is outside of subnet',
            fieldPath: '.gateway',
          },
          {
            rule: [
              '!isCIDR(self.subnet) || self.addresses.all(a,',
              '(!has(a.cidr) || !isCIDR(a.cidr) || cidr(self.subnet).containsCIDR(a.cidr))',
              '&& (!has(a.first) || !isIP(a.first) || cidr(self.subnet).containsIP(a.first))',
              '&& (!has(a.last) || !isIP(a.last) || cidr(self.subnet).containsIP(a.last)))',
            ].join(' '),
            message: 'an entry is outside of subnet',
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
