import { z } from 'zod'
import { LISTENER_PROTOCOLS } from './protocols.ts'
import { looseCidrText, metaShape, port, tags, uuid } from './scalars.ts'

export const INSERT_HEADERS = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'] as const

const timeoutMs = z.number().int().min(0).max(2_073_600_000)

export const listener = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(LISTENER_PROTOCOLS),
  port,
  /** Maximum of simultaneous connections; null sets no limit. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable(),
  defaultPoolId: uuid.nullable(),
  timeouts: z.strictObject({ clientMs: timeoutMs, connectMs: timeoutMs, memberMs: timeoutMs, inspectMs: timeoutMs }),
  insertHeaders: z.array(z.enum(INSERT_HEADERS)),
  /** Sources that may connect. Null admits all, an empty list none. */
  allowedCidrs: z.array(looseCidrText).max(200).nullable(),
})
export type Listener = z.infer<typeof listener>
