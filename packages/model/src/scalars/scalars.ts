import { AddressSyntaxError, forbiddenRange, formatCidr, formatIp, parseCidr, parseIp } from '@spout/net'
import { z } from 'zod'

const parsedBy = (parse: (text: string) => string) =>
  z
    .string()
    .max(128)
    .transform((text, context) => {
      try {
        return parse(text)
      } catch (error) {
        if (!(error instanceof AddressSyntaxError)) throw error
        context.addIssue({ code: 'custom', message: error.message })
        return z.NEVER
      }
    })

/** An address in canonical text. */
export const ipText = parsedBy((text) => formatIp(parseIp(text)))
/** A prefix without host bits, in canonical text. */
export const cidrText = parsedBy((text) => formatCidr(parseCidr(text)))
/** A prefix whose host bits are cleared, in canonical text (`10.0.0.7/8` becomes `10.0.0.0/8`). */
export const looseCidrText = parsedBy((text) =>
  formatCidr(parseCidr(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`, 'clear')),
)
/** An address that traffic may be sent to: not loopback, link-local, metadata or multicast. */
export const endpointIpText = parsedBy((text) => {
  const ip = parseIp(text)
  const why = forbiddenRange(ip)
  if (why !== null) throw new AddressSyntaxError(`${formatIp(ip)} is not allowed: ${why}`)
  return formatIp(ip)
})

export const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'is not a UUID')
export const port = z.number().int().min(1).max(65535)
/** Tenant text of limited length. It never reaches a configuration text or a command line. */
export const nameText = z.string().max(255)
export const tags = z.array(z.string().min(1).max(255)).max(100)
/** RFC 3339 time in UTC with milliseconds. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'is not a time like 2026-01-31T12:00:00.000Z')

/** A node's name. One of a Kubernetes cluster may have dots. */
export const nodeName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'is not a host name')

/** Fields of every stored object. `id` is a UUID unless the kind says otherwise. */
export const metaShape = {
  id: uuid,
  name: nameText,
  description: z.string().max(255),
  createdAt: timestamp,
  /** Null until the first change. That of a part changes with its own fields, not with those of the parts inside it. */
  updatedAt: timestamp.nullable(),
} as const

/** Fields of an object, or of a part with an `id`, that only people read. Nodes do nothing when they change. */
export const FOR_PEOPLE: ReadonlySet<string> = new Set([
  ...(['name', 'description', 'createdAt', 'updatedAt'] as const satisfies (keyof typeof metaShape)[]),
  'tags',
  'addressText',
  'monitorAddressText',
])
