import { z } from 'zod'
import { ipText, metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/** `enabled` takes part. A `cordoned` node gets nothing new. A `draining` node also hands over what it has. */
const scheduling = z.enum(['enabled', 'cordoned', 'draining'])

/** What the node's Kubernetes cluster asks for. */
export const clusterWish = z.strictObject({
  scheduling: scheduling.exclude(['enabled']),
  /** Why, for people. */
  reason: z
    .string()
    .max(512)
    .regex(/^[\x20-\x7e]+$/, 'is not printable ASCII'),
})
export type ClusterWish = z.infer<typeof clusterWish>

/** A machine that carries load balancers. It enrols once with a token, and then authenticates by its certificate. */
export const node = z.strictObject({
  ...metaShape,
  nodeGroupId: uuid,
  /** SHA-256 of the client certificate of its last enrolment, hex; null before enrolment. */
  certificateSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  scheduling,
  /**
   * Present while its Kubernetes cluster wants it out of use. `scheduling` is the stronger of that wish and of `own`, an
   * administrator's choice, which alone counts again afterwards.
   */
  clusterScheduling: clusterWish.extend({ own: scheduling }).optional(),
  /** When `scheduling` last changed; null before the first change. The steps of a drain are timed from here. */
  schedulingSince: timestamp.nullable().default(null),
  /** When it was last told to drain, even if `scheduling` has changed since. Null: never. */
  drainedSince: timestamp.nullable().default(null),
  /**
   * When the drain of `drainedSince` began: from then on the node gives up its shards, also after a restart of the
   * control plane. Null: it waits, or the group has no shards. Absent: an earlier version stored the drain, so it has
   * begun.
   */
  drainBegunAt: timestamp.nullable().optional(),
  /** Its address on the fabric, set by an administrator. Null: `seenFabricAddress` counts. */
  fabricAddress: ipText.nullable(),
  /** The address that the agent last saw on its fabric interface. */
  seenFabricAddress: ipText.nullable().default(null),
})
export type Node = z.infer<typeof node>

/** The node's address on the fabric; null while it is unknown. */
export const fabricAddressOf = (of: Pick<Node, 'fabricAddress' | 'seenFabricAddress'>): string | null =>
  of.fabricAddress ?? of.seenFabricAddress

/** A one-time secret that enrols one node. Only its hash is stored. */
export const enrolmentToken = z.strictObject({
  ...metaShape,
  nodeName: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'is not a host label'),
  nodeGroupId: uuid,
  secretSha256: z.string(),
  expiresAt: timestamp,
  usedAt: timestamp.nullable(),
  /**
   * Hashes of the certificate request that used up the token, and of the certificate that was issued. If the response
   * is lost, the same request may be repeated.
   */
  grant: z.strictObject({ requestSha256: z.string(), certificateSha256: z.string() }).nullable().default(null),
})
export type EnrolmentToken = z.infer<typeof enrolmentToken>
