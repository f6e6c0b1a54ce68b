import { z } from 'zod'
import { metaShape, nameText, timestamp, uuid } from '../scalars/scalars.ts'

/** Limit of a payload in bytes, Barbican's own default (`max_allowed_secret_in_bytes`). */
export const MOST_SECRET_BYTES = 20_000

export const SECRET_TYPES = ['symmetric', 'passphrase', 'private', 'public', 'certificate', 'opaque'] as const
export const PAYLOAD_TYPES = ['text/plain', 'application/octet-stream', 'application/pkcs8'] as const
export type PayloadType = (typeof PAYLOAD_TYPES)[number]

const word = z.string().max(255).nullable()

/** A secret of a project's key manager. Its payload is written once. */
export const secret = z.strictObject({
  ...metaShape,
  projectId: uuid,
  /** The user that stored it. */
  creatorId: z.string().max(64),
  secretType: z.enum(SECRET_TYPES),
  /** The client's own description of the payload. We do not interpret it. */
  algorithm: word,
  mode: word,
  bitLength: z.number().int().min(1).max(32_767).nullable(),
  /** From this time on the secret is hidden from everybody. */
  expiresAt: timestamp.nullable(),
  /** Null without a payload. */
  payloadType: z.enum(PAYLOAD_TYPES).nullable(),
  /** The payload as base64, sealed for this object's id. Null: no payload was stored yet. */
  sealedPayload: z
    .string()
    .max(2 * MOST_SECRET_BYTES)
    .nullable(),
})
export type Secret = z.infer<typeof secret>

export const SECRET_CONTAINER_TYPES = ['generic', 'rsa', 'certificate'] as const

/** A consumer, in Barbican's terms: a program that registered its use of a container. */
export const secretConsumer = z.strictObject({ name: z.string().min(1).max(36), url: z.string().min(1).max(255) })
export type SecretConsumer = z.infer<typeof secretConsumer>

/** Secrets of a key manager that belong together, each under a name of its own. */
export const secretContainer = z.strictObject({
  ...metaShape,
  projectId: uuid,
  creatorId: z.string().max(64),
  type: z.enum(SECRET_CONTAINER_TYPES),
  secrets: z.array(z.strictObject({ name: nameText, secretId: uuid })).max(100),
  consumers: z.array(secretConsumer).max(100),
})
export type SecretContainer = z.infer<typeof secretContainer>
