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
  /** When `scheduling` was last changed; null before the first change. A drain goes on in steps from here. */
  schedulingSince: timestamp.nullable().default(null),
  /** When it was last told to hand over what it has, whatever it was told since; null before the first time. */
  drainedSince: timestamp.nullable().default(null),
  /** Its address on the fabric as an administrator set it; null leaves it to what the agent sees. */
  fabricAddress: ipText.nullable(),
  /** What the agent last saw on its fabric interface. */
  seenFabricAddress: ipText.nullable().default(null),
})
export type Node = z.infer<typeof node>

/** The address by which a node's neighbours know it; null while nobody has said. */
export const fabricAddressOf = (of: Pick<Node, 'fabricAddress' | 'seenFabricAddress'>): string | null =>
  of.fabricAddress ?? of.seenFabricAddress

/** A one-time secret that enrols one node. Stored by its hash. */
export const enrolmentToken = z.strictObject({
  ...metaShape,
  nodeName: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'is not a host label'),
  nodeGroupId: uuid,
  secretSha256: z.string(),
  expiresAt: timestamp,
  usedAt: timestamp.nullable(),
  /** What used it up, by hashes: the certificate request, and the certificate that answered it. The answer may be lost. */
  grant: z.strictObject({ requestSha256: z.string(), certificateSha256: z.string() }).nullable().default(null),
})
export type EnrolmentToken = z.infer<typeof enrolmentToken>
