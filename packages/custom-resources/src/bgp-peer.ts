import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { bfdSettings, bgpPeer } from '@spout/model'
import { z } from 'zod'
import { isAddress } from './address-rules.ts'
import { asn, RESERVED_ASN } from './bgp-words.ts'
import { addressText, apiName, GROUP, idOfApi, ready, reason, VERSION, whenSet } from './words.ts'

const [bfdName, bfdTimes] = bfdSettings.options
/** The schema of a field that may be null in the model and is optional here. */
const own = <
  K extends
    | 'port'
    | 'hops'
    | 'ttlSecurity'
    | 'holdTimeS'
    | 'keepaliveTimeS'
    | 'connectRetryS'
    | 'families'
    | 'gracefulRestartS'
    | 'prefixLimit',
>(
  field: K,
) => bgpPeer.shape[field].unwrap().unwrap()

export const bgpPeerSpec = z.strictObject({
  peerAddress: addressText.optional().describe('The address of the router.'),
  unnumbered: z
    .literal(true)
    .optional()
    .describe('In place of peerAddress: uses the link-local address of the only neighbour on the fabric interface.'),
  peerASN: asn.optional().describe('The AS of the router. Left out: that of the template.'),
  peerPort: own('port').optional(),
  template: apiName
    .optional()
    .describe(
      'A template of the native API. Settings that are left out here come from it, and so does the MD5 secret.',
    ),
  hops: own('hops').optional().describe('Hops to the router; 1: directly connected.'),
  ttlSecurity: own('ttlSecurity').optional().describe('GTSM (RFC 5082); the router must do the same.'),
  holdTimeSeconds: own('holdTimeS').optional(),
  keepaliveTimeSeconds: own('keepaliveTimeS').optional(),
  connectTimeSeconds: own('connectRetryS').optional(),
  families: own('families').optional().describe('Address families of the session; left out: that of peerAddress.'),
  bfd: z
    .strictObject({
      profile: bfdName.optional(),
      minTransmitMs: bfdTimes.shape.minTransmitMs.optional(),
      minReceiveMs: bfdTimes.shape.minReceiveMs.optional(),
      multiplier: bfdTimes.shape.multiplier.optional(),
    })
    .optional()
    .describe('A profile, or intervals and a multiplier of your own.'),
  gracefulRestartSeconds: own('gracefulRestartS').optional().describe('0 is off.'),
  prefixLimit: own('prefixLimit').optional(),
  nodeGroups: z
    .array(apiName)
    .min(1)
    .max(100)
    .optional()
    .describe('Groups whose nodes have a session with the router.'),
  nodes: z
    .array(apiName)
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Nodes that have a session with the router. Without groups and nodes: all nodes of all groups with announcer bgp.',
    ),
})
export type BgpPeerSpec = z.input<typeof bgpPeerSpec>

/** The status lists this many sessions at most. Further ones are only counted. */
export const MOST_SESSIONS = 100

export const bgpPeerStatus = z.strictObject({
  id: idOfApi,
  sessions: z.strictObject({ total: z.int().min(0), established: z.int().min(0) }).optional(),
  nodes: z
    .array(
      z.strictObject({
        node: z.string().max(255),
        state: z.string().max(32),
        since: z.string().max(64),
        announced: z.int().min(0).describe('Prefixes announced to the router.'),
        bfd: z.string().max(16).optional(),
        lastError: z.string().max(1024).optional(),
      }),
    )
    .max(MOST_SESSIONS)
    .optional()
    .describe('The sessions as the nodes report them, at most 100; those that are down come first.'),
  conditions: conditionsSchema.optional(),
})

export const bgpPeerCrd: CrdDraft = {
  group: GROUP,
  kind: 'BgpPeer',
  plural: 'bgppeers',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'A router with which nodes have BGP sessions.',
  versions: [
    {
      name: VERSION,
      spec: bgpPeerSpec,
      status: bgpPeerStatus,
      printerColumns: [
        { name: 'Address', type: 'string', jsonPath: '.spec.peerAddress' },
        { name: 'ASN', type: 'integer', jsonPath: '.spec.peerASN' },
        { name: 'Sessions', type: 'integer', jsonPath: '.status.sessions.total' },
        { name: 'Established', type: 'integer', jsonPath: '.status.sessions.established' },
        ready,
        reason,
        AGE_COLUMN,
      ],
      rules: {
        spec: [
          {
            rule: 'has(self.peerAddress) != has(self.unnumbered)',
            message: 'must have either peerAddress or unnumbered',
          },
          isAddress('peerAddress'),
          {
            rule: 'has(self.peerASN) || has(self.template)',
            message: 'needed without a template',
            fieldPath: '.peerASN',
          },
          whenSet('peerASN', `!(self.peerASN in ${RESERVED_ASN})`, 'is reserved: no router may have it'),
          {
            rule: '!has(self.holdTimeSeconds) || !has(self.keepaliveTimeSeconds) || 3 * self.keepaliveTimeSeconds <= self.holdTimeSeconds',
            message: 'is more than a third of holdTimeSeconds',
            fieldPath: '.keepaliveTimeSeconds',
          },
          whenSet('unnumbered', '!has(self.hops) || self.hops == 1', 'an unnumbered peer is on the link: 1 hop'),
        ],
        'spec.bfd': [
          {
            rule: [
              'has(self.profile)',
              '? !has(self.minTransmitMs) && !has(self.minReceiveMs) && !has(self.multiplier)',
              ': has(self.minTransmitMs) && has(self.minReceiveMs) && has(self.multiplier)',
            ].join(' '),
            message: 'must have either profile, or minTransmitMs, minReceiveMs and multiplier',
          },
        ],
      },
    },
  ],
}
