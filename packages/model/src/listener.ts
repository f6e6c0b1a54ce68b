import { z } from 'zod'
import { LISTENER_PROTOCOLS } from './protocols.ts'
import { looseCidrText, metaShape, port, tags, uuid } from './scalars.ts'

export const INSERT_HEADERS = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'] as const

const timeoutMs = z.number().int().min(0).max(2_073_600_000)

/** Options of a listener besides where it listens and where it sends to, each with its default. */
export const listenerOptions = {
  /** Maximum of simultaneous connections; null sets no limit. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable().default(null),
  timeouts: z
    .strictObject({
      clientMs: timeoutMs.default(50_000),
      connectMs: timeoutMs.default(5000),
      memberMs: timeoutMs.default(50_000),
      inspectMs: timeoutMs.default(0),
    })
    .prefault({}),
  insertHeaders: z.array(z.enum(INSERT_HEADERS)).default([]),
  /** Sources that may connect. Null admits all, an empty list none. */
  allowedCidrs: z.array(looseCidrText).max(200).nullable().default(null),
}
/** Options of a listener that sets none. */
export const LISTENER_DEFAULTS = z.strictObject(listenerOptions).parse({})

export const listener = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(LISTENER_PROTOCOLS),
  port,
  defaultPoolId: uuid.nullable(),
  ...listenerOptions,
})
export type Listener = z.infer<typeof listener>
