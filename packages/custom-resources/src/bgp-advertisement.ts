import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { bgpAdvertisement } from '@spout/model'
import { z } from 'zod'
import { apiName, GROUP, idOfApi, ready, reason, VERSION } from './words.ts'

const { localPreference, med, aggregateLength4, aggregateLength6 } = bgpAdvertisement.shape

export const bgpAdvertisementSpec = z.strictObject({
  addressPools: z
    .array(apiName)
    .min(1)
    .max(100)
    .optional()
    .describe('Address pools that it applies to; left out: all pools that no other advertisement names.'),
  peers: z.array(apiName).min(1).max(100).optional().describe('BGP peers that it applies to; left out: all.'),
  communities: z
    .array(
      z
        .string()
        .max(40)
        .regex(/^(0|[1-9][0-9]{0,9})(:(0|[1-9][0-9]{0,9})){1,2}$/),
    )
    .max(32)
    .optional()
    .describe('AS:VALUE (RFC 1997) or AS:VALUE:VALUE (RFC 8092).'),
  localPref: localPreference.unwrap().unwrap().optional(),
  med: med.unwrap().unwrap().optional(),
  aggregationLength: aggregateLength4
    .unwrap()
    .unwrap()
    .optional()
    .describe('IPv4: announce the prefix of this length.'),
  aggregationLengthV6: aggregateLength6
    .unwrap()
    .unwrap()
    .optional()
    .describe('IPv6: announce the prefix of this length.'),
})
export type BgpAdvertisementSpec = z.input<typeof bgpAdvertisementSpec>

export const bgpAdvertisementCrd: CrdDraft = {
  group: GROUP,
  kind: 'BgpAdvertisement',
  plural: 'bgpadvertisements',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'The attributes with which addresses of some pools are announced to routers.',
  versions: [
    {
      name: VERSION,
      spec: bgpAdvertisementSpec,
      status: z.strictObject({ id: idOfApi, conditions: conditionsSchema.optional() }),
      printerColumns: [
        { name: 'Pools', type: 'string', jsonPath: '.spec.addressPools' },
        { name: 'Peers', type: 'string', jsonPath: '.spec.peers', priority: 1 },
        ready,
        reason,
        AGE_COLUMN,
      ],
    },
  ],
}
