import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import {
  ANNOUNCERS,
  announcersInWords,
  DEFAULT_ANNOUNCER,
  DEFAULT_SECOND_CHANCE_S,
  groupBgpSettings,
  nodeGroup,
  vrrpSettings,
} from '@spout/model'
import { z } from 'zod'
import { asn, RESERVED_ASN } from './bgp-words.ts'
import { GROUP, idOfApi, ready, reason, VERSION, whenSet } from './words.ts'

const { profile, shards, routerIds, excludedRouterIds } = vrrpSettings.shape

export const nodeGroupSpec = z.strictObject({
  announcer: nodeGroup.shape.announcer
    .default(DEFAULT_ANNOUNCER)
    .describe(`How addresses are made known: ${announcersInWords()}.`),
  vrrp: z
    .strictObject({
      profile: profile.unwrap().optional().describe('How fast a silent master is given up.'),
      shards: shards.unwrap().optional().describe('Parts of the group whose addresses move on their own.'),
      routerIds: routerIds.unwrap().min(1).optional().describe('One VRID per shard; left out, free ones are taken.'),
      excludedRouterIds: excludedRouterIds.unwrap().optional().describe('VRIDs that others use on the segment.'),
    })
    .optional(),
  bgp: z
    .strictObject({
      localASN: asn.describe("The AS of the group's nodes."),
      policy: groupBgpSettings.shape.policy.unwrap().optional().describe('healthy: only while a member is up.'),
      drainSeconds: groupBgpSettings.shape.drainSeconds.unwrap().optional(),
    })
    .optional()
    .describe('Needed by announcer bgp.'),
  secondChanceSeconds: nodeGroup.shape.secondChanceSeconds
    .unwrap()
    .default(DEFAULT_SECOND_CHANCE_S)
    .describe('So long a drained node goes on with the connections of its proxies.'),
  rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds
    .unwrap()
    .default(0)
    .describe('Shards are evened out once nothing has changed for so long; 0: never by themselves.'),
})
export type NodeGroupSpec = z.input<typeof nodeGroupSpec>

export const nodeGroupStatus = z.strictObject({
  id: idOfApi,
  nodes: z.strictObject({ total: z.int().min(0), connected: z.int().min(0) }).optional(),
  routerIds: z.array(z.int()).max(16).optional().describe('The VRIDs of the shards, in order.'),
  conditions: conditionsSchema.optional(),
})

export const nodeGroupCrd: CrdDraft = {
  group: GROUP,
  kind: 'NodeGroup',
  plural: 'nodegroups',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'Load-balancer nodes that stand in for each other, and how they announce addresses.',
  versions: [
    {
      name: VERSION,
      spec: nodeGroupSpec,
      status: nodeGroupStatus,
      printerColumns: [
        { name: 'Announcer', type: 'string', jsonPath: '.spec.announcer' },
        { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes.total' },
        { name: 'Connected', type: 'integer', jsonPath: '.status.nodes.connected' },
        ready,
        reason,
        AGE_COLUMN,
      ],
      rules: {
        spec: ANNOUNCERS.flatMap(({ name, needs }) =>
          needs === undefined
            ? []
            : [
                {
                  rule: `self.announcer != '${name}' || has(self.${needs.settings})`,
                  message: `announcer ${name} needs it`,
                  fieldPath: `.${needs.settings}`,
                },
              ],
        ),
        'spec.vrrp': [
          whenSet(
            'routerIds',
            '(self.routerIds.size() == (has(self.shards) ? self.shards : 4) && self.routerIds.all(id, self.routerIds.exists_one(other, other == id)))',
            'must have a different one for each shard',
          ),
        ],
        'spec.bgp': [
          {
            rule: `!(self.localASN in ${RESERVED_ASN})`,
            message: 'is reserved: no router may have it',
            fieldPath: '.localASN',
          },
        ],
      },
    },
  ],
}
