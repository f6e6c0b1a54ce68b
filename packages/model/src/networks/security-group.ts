import { z } from 'zod'
import { cidrText, metaShape, port, tags, timestamp, uuid } from '../scalars/scalars.ts'

/** Limit of rules per group: the same as of prefixes in a listener's `allowedCidrs`. */
export const MOST_SECURITY_RULES = 200
/** Limit of groups per load balancer. */
export const MOST_SECURITY_GROUPS = 10

/** The traffic that a rule admits. There are no rules that deny: traffic that no rule admits is dropped. */
export const securityRule = z.strictObject({
  id: uuid,
  description: z.string().max(255),
  createdAt: timestamp,
  /** IP version of the sources. */
  ipVersion: z.union([z.literal(4), z.literal(6)]),
  /** Null: every transport. */
  transport: z.enum(['tcp', 'udp', 'sctp']).nullable(),
  /** Ports of listeners, both ends included. Null: all. */
  ports: z.strictObject({ first: port, last: port }).nullable(),
  /** The sources. Null: all addresses of `ipVersion`. */
  cidr: cidrText.nullable(),
})
export type SecurityRule = z.infer<typeof securityRule>

/** A named set of rules of a project. A load balancer that names groups admits what any rule of any of them admits. */
export const securityGroup = z.strictObject({
  ...metaShape,
  projectId: uuid,
  tags,
  rules: z.array(securityRule).max(MOST_SECURITY_RULES),
})
export type SecurityGroup = z.infer<typeof securityGroup>
