import { z } from 'zod'
import { ipText, metaShape, timestamp, uuid } from './scalars.ts'

/** A machine that carries load balancers. Enrolled once with a token; afterwards known by its certificate. */
export const node = z.strictObject({
  ...metaShape,
  nodeGroupId: uuid,
  /** SHA-256 of the client certificate it last enrolled with, hex; null before enrolment. */
  certificateSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  /** `cordoned` nodes get nothing new; `draining` ones hand over what they have. */
  scheduling: z.enum(['enabled', 'cordoned', 'draining']),
  /** Its address on the fabric, for people. */
  fabricAddress: ipText.nullable(),
})
export type Node = z.infer<typeof node>

export const nodeGroup = z.strictObject({
  ...metaShape,
  announcer: z.enum(['l2']),
})
export type NodeGroup = z.infer<typeof nodeGroup>

/** A one-time secret that enrols one node. Stored by its hash. */
export const enrolmentToken = z.strictObject({
  ...metaShape,
  nodeName: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'is not a host label'),
  nodeGroupId: uuid,
  secretSha256: z.string(),
  expiresAt: timestamp,
  usedAt: timestamp.nullable(),
})
export type EnrolmentToken = z.infer<typeof enrolmentToken>
