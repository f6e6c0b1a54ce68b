import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'
import { type LoadBalancer, loadBalancer } from './load-balancer.ts'

/** What happens to connections that are open when a change is made. */
export const CONNECTION_FATES = ['end', 'drain', 'may-end', 'stay'] as const
export type ConnectionFateKind = (typeof CONNECTION_FATES)[number]

const beforeAndAfter = <T extends z.ZodType>(schema: T) => z.strictObject({ before: schema, after: schema })

const shownPart = z.strictObject({ id: uuid, name: z.string() })

const shownMember = z.strictObject({ name: z.string(), address: z.string(), port: z.number().int() })

export const addressChange = z.strictObject({
  address: z.string(),
  change: z
    .enum(['taken', 'released', 'bound', 'unbound'])
    .describe('Reserved addresses and floating IPs are bound and unbound: they stay the project’s.'),
  restSeconds: z.number().int().describe('How long nobody gets a released address.'),
})
export type AddressChange = z.infer<typeof addressChange>

export const memberChange = z.strictObject({
  ...shownMember.shape,
  change: z.enum(['added', 'changed', 'removed']),
  weight: beforeAndAfter(z.number().int().nullable()),
})
export type MemberDifference = z.infer<typeof memberChange>

export const partDifference = z.strictObject({
  part: z.enum(['listener', 'pool']),
  id: uuid,
  name: z.string(),
  change: z.enum(['added', 'changed', 'removed']),
  fields: z.array(z.string()).describe('What differs, in words.'),
  memberChanges: z.number().int().describe('How many members are added, changed or removed.'),
  members: z.array(memberChange).describe('The first hundred of them.'),
  slots: z
    .strictObject({ size: z.number().int(), moved: z.number().int() })
    .nullable()
    .describe('Hash slots of a pool that is balanced per connection, and how many get another member.'),
})
export type PartDifference = z.infer<typeof partDifference>

export const nodeDifference = z.strictObject({
  nodeId: uuid,
  nodeName: z.string(),
  change: z.enum(['added', 'changed', 'removed', 'unchanged']).describe('What the node does with the load balancer.'),
  announces: beforeAndAfter(z.boolean()).describe('Whether it may announce the addresses.'),
  proxy: z
    .enum(['unchanged', 'run-time', 'may-restart'])
    .describe('A proxy that starts again keeps the connections that it has.'),
})
export type NodeDifference = z.infer<typeof nodeDifference>

export const connectionFate = z.strictObject({
  fate: z.enum(CONNECTION_FATES),
  code: z.string(),
  message: z.string(),
  listener: shownPart.nullable().describe('Whose connections they are; null: of all, or of all that use the pool.'),
  pool: shownPart.nullable(),
  afterSeconds: z.number().int().nullable().describe('When those that are left are cut; null where nothing cuts them.'),
  memberCount: z.number().int(),
  members: z.array(shownMember).describe('The members whose connections they are; the first hundred.'),
})
export type ConnectionFate = z.infer<typeof connectionFate>

export const planDifference = z.strictObject({
  reason: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  owner: beforeAndAfter(z.string().nullable()).describe('The node that announces it; null where nodes elect it.'),
  shard: beforeAndAfter(z.number().int().nullable()),
  nodes: z.array(nodeDifference),
  parts: z.array(partDifference).describe('The same on every node.'),
  connections: z.array(connectionFate).describe('Those that end come first. Others stay.'),
})
export type PlanDifference = z.infer<typeof planDifference>

/** What a dry run answers. */
export const preview = z.strictObject({
  dryRun: z.literal(true),
  loadBalancer: loadBalancer.nullable().describe('As it would be, without its status; null: it would be deleted.'),
  addresses: z.array(addressChange),
  dnsNames: z.strictObject({ added: z.array(z.string()), removed: z.array(z.string()) }),
  plan: planDifference,
})
export type Preview = z.infer<typeof preview>

/** Says what the planner would decide. The controllers implement it, surfaces read it. */
export interface PlanForecaster {
  /**
   * What a change of a load balancer does on nodes. Nothing is stored.
   * @param before null: it would be new. @param after null: it would be deleted
   * @throws SpoutError Unavailable while nothing is planned here
   */
  forecast(before: LoadBalancer | null, after: LoadBalancer | null): PlanDifference
}
