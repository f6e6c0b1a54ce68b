import { ROLES } from '@spout/model'
import { secret } from '@spout/runtime/config'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { section } from './section.ts'

const name = z.string().min(1).max(255)

/** Whoever can change what is on the way could be anybody: the keys that tokens are signed with come that way. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.search !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** An OpenID Connect provider, by which people log in on the web page. */
export const oidcSection = section({
  /** Such as `https://login.example.com/realms/staff`; empty: no provider. */
  issuer: z
    .string()
    .refine((text) => text === '' || isIssuer(text), 'is not an https URL without query (http on this machine alone)')
    .default(''),
  /** What people call it: `Log in with NAME`. */
  name: z.string().min(1).max(64).default('OpenID Connect'),
  /** Spout as the provider knows it. */
  clientId: z.string().max(255).default(''),
  /** None for a public client. */
  clientSecret: secret.optional(),
  /** A file with it. */
  clientSecretFile: z.string().default(''),
  /** PEM: the authorities that its certificate may be from. Empty: those of the system. */
  caFile: z.string().default(''),
  timeoutMs: z.number().int().min(100).max(60_000).default(5000),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'is no scope'))
    .min(1)
    .max(32)
    .refine((scopes) => scopes.includes('openid'), 'has no openid, without which there is no ID token')
    .default(['openid', 'profile', 'email']),
  /** The claim that is the name of a person's user here. */
  userClaim: name.default('preferred_username'),
  /** The claim that has the person's groups. */
  groupsClaim: name.default('groups'),
  /** Who may do what: members of a group have a role in a project. */
  grants: z
    .array(section({ group: name, project: z.string().min(1).max(64), role: z.enum(ROLES) }))
    .max(1000)
    .default([]),
})
  .refine(({ issuer, clientId }) => (issuer === '') === (clientId === ''), {
    path: ['clientId'],
    error: 'and oidc.issuer belong together: set both or none',
  })
  .refine(({ issuer, grants }) => issuer === '' || grants.length > 0, {
    path: ['grants'],
    error: 'is empty, and oidc.issuer is set: nobody could log in',
  })
  .refine(({ clientSecret, clientSecretFile }) => clientSecret === undefined || clientSecretFile === '', {
    path: ['clientSecretFile'],
    error: 'and oidc.clientSecret exclude each other: set one of them',
  })
  .prefault({})
