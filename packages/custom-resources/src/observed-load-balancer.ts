import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import { z } from 'zod'
import { GROUP, VERSION } from './words.ts'

export const observedLoadBalancerSpec = z.strictObject({
  name: z.string().max(255).describe('The name of the load balancer in the native API.'),
})

export const observedLoadBalancerStatus = z.strictObject({
  addresses: z.array(z.string().max(45)).max(16).optional(),
  owner: z.string().max(255).optional().describe('The node that announces it; left out if all nodes do.'),
  provisioning: z.string().max(16).optional(),
  generation: z.int().min(0).optional(),
  members: z
    .strictObject({
      total: z.int().min(0),
      up: z.int().min(0).describe('Members that are not known to be down, including those without a health check.'),
    })
    .optional(),
  conditions: conditionsSchema.optional(),
})

export const observedLoadBalancerCrd: CrdDraft = {
  group: GROUP,
  kind: 'ObservedLoadBalancer',
  plural: 'observedloadbalancers',
  categories: ['spout'],
  scope: 'Cluster',
  description: 'The state of a load balancer, named by its id. Only Spout writes it: other changes are undone.',
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
