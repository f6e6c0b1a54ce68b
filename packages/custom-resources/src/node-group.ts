import { AGE_COLUMN, type CelRules, type CrdDraft, conditionsSchema } from '@spout/kube'
import { announcersInWords, DEFAULT_ANNOUNCER, DEFAULT_SECOND_CHANCE_S, interfaceName, nodeGroup } from '@spout/model'
import { z } from 'zod'
import { announcerRules, announcerSettingsShape } from './announcer-settings.ts'
import { nodeSelector, nodeSelectorRules } from './node-selector.ts'
import { addressText, GROUP, idOfApi, ready, reason, VERSION } from './words.ts'

const fabric = z
  .strictObject({
    interface: interfaceName.optional().describe('Its name, the same on all nodes.'),
    reaches: addressText
      .optional()
      .describe("An address in its network, such as the router's, where nodes name it differently."),
  })
  .describe(
    "The nodes' interface towards clients. A node without it carries nothing. Left out: as the agents' settings say, which count before this. It cannot change while the group has nodes.",
  )

const fabricRules: CelRules = {
  'spec.fabric': [
    { rule: 'has(self.interface) != has(self.reaches)', message: 'must have either interface or reaches' },
  ],
}

export const nodeGroupSpec = z.strictObject({
  announcer: nodeGroup.shape.announcer
    .default(DEFAULT_ANNOUNCER)
    .describe(`How addresses are announced: ${announcersInWords()}.`),
  ...announcerSettingsShape,
  nodeSelector: nodeSelector.optional(),
  fabric: fabric.optional(),
  secondChanceSeconds: nodeGroup.shape.secondChanceSeconds
    .unwrap()
    .default(DEFAULT_SECOND_CHANCE_S)
    .describe('How long a drained node keeps the connections of its proxies.'),
  rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds
    .unwrap()
    .default(0)
    .describe('Shards are spread evenly over the nodes once nothing has changed for this long; 0: only on request.'),
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
  description: 'Load-balancer nodes that take over from each other, and how they announce addresses.',
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
      rules: { ...announcerRules, ...nodeSelectorRules, ...fabricRules },
    },
  ],
}
