import { z } from 'zod'

const named = z.object({ id: z.string().min(1).max(255), name: z.string().max(255) })
const withDomain = named.extend({ domain: named })

/** The fields of a token that we read. It has more. */
const body = z.object({
  token: z.object({
    methods: z.array(z.string().max(64)).max(16),
    user: withDomain,
    project: withDomain.optional(),
    system: z.object({ all: z.boolean() }).optional(),
    roles: z
      .array(z.object({ name: z.string().max(255) }))
      .max(1000)
      .default([]),
    application_credential: z.object({ id: z.string().min(1).max(255) }).optional(),
    issued_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  }),
})

/** A token as Keystone describes it. */
export type KeystoneToken = z.infer<typeof body>['token']

/** @param text the body of the answer of `GET /v3/auth/tokens`; null when it is none */
export function readToken(text: string): KeystoneToken | null {
  try {
    return body.parse(JSON.parse(text)).token
  } catch {
    return null
  }
}

const HEX_ID = /^[0-9a-f]{32}$/

/** A UUID with its dashes, as ours are written. Keystone's users may have other ids, which stay as they are. */
export const uuidOf = (id: string): string =>
  HEX_ID.test(id) ? id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : id

const DEFAULT_DOMAIN = 'default'

/** A name, with its domain unless that is Keystone's default one. */
export const fullName = ({ name, domain }: KeystoneToken['user']): string =>
  domain.id === DEFAULT_DOMAIN ? name : `${name}@${domain.name}`
