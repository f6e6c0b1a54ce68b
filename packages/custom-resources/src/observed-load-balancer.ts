import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { z } from 'zod'
import { GROUP, VERSION } from './words.ts'

export const observedLoadBalancerSpec = z.strictObject({
  name: z.string().max(255).describe('As the native API shows it.'),
})

export const observedLoadBalancerStatus = z.strictObject({
  addresses: z.array(z.string().max(45)).max(16).optional(),
  owner: z.string().max(255).optional().describe('The node that announces it; left out where every node does.'),
  provisioning: z.string().max(16).optional(),
  generation: z.int().min(0).optional(),
  members: z
    .strictObject({ total: z.int().min(0), up: z.int().min(0).describe('Not found down: those without a check too.') })
    .optional(),
  conditions: conditionsSchema.optional(),
})

export const observedLoadBalancerCrd: CrdDraft = {
  group: GROUP,
  kind: 'ObservedLoadBalancer',
  plural: 'observedloadbalancers',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'What became of a load balancer; named by its id. Written by Spout alone: changes are undone.',
  versions: [
    {
      name: VERSION,
      spec: observedLoadBalancerSpec,
      status: observedLoadBalancerStatus,
      printerColumns: [
        { name: 'LB', type: 'string', jsonPath: '.spec.name' },
        { name: 'Addresses', type: 'string', jsonPath: '.status.addresses' },
        { name: 'Owner', type: 'string', jsonPath: '.status.owner' },
        { name: 'Up', type: 'integer', jsonPath: '.status.members.up' },
        { name: 'Members', type: 'integer', jsonPath: '.status.members.total' },
        { name: 'Programmed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Programmed")].status' },
        { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Programmed")].reason' },
        AGE_COLUMN,
      ],
    },
  ],
}
