import { secret } from '@spout/runtime/config'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { section } from './section.ts'

/** Whether a URL leads to another machine without TLS. */
const isPlain = (url: string): boolean => url.startsWith('http:') && !isLoopback(new URL(url).hostname)

/** A real Keystone, whose tokens are accepted beside those of our own users. */
export const keystoneSection = section({
  /** Such as `https://keystone.example:5000/v3`; empty: no Keystone. */
  url: z
    .string()
    .refine((url) => url === '' || /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'is not an http or https URL')
    .default('')
    .transform((url) => (url === '' ? url : `${url.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`)),
  /** PEM: the authorities that its certificate may be from. Empty: those of the system. */
  caFile: z.string().default(''),
  /** Allows HTTP to a Keystone on another machine. */
  plainBeyondLoopback: z.boolean().default(false),
  /** Spout's own user there, which asks whose tokens are. It needs the role `service` or `admin` in its project. */
  user: z.string().min(1).max(255).default('spout'),
  userDomain: z.string().min(1).max(64).default('Default'),
  password: secret.optional(),
  project: z.string().min(1).max(64).default('service'),
  projectDomain: z.string().min(1).max(64).default('Default'),
  /** Or an application credential of that user. */
  applicationCredentialId: z.string().max(255).default(''),
  applicationCredentialSecret: secret.optional(),
  /** How long an answer about a token is used. A revoked token works no longer than this; 0: each request asks. */
  cacheSeconds: z.number().int().min(0).max(3600).default(60),
  /** How long a token stays valid after its last confirmation while Keystone does not answer. */
  outageSeconds: z.number().int().min(0).max(86_400).default(3600),
  timeoutMs: z.number().int().min(100).max(60_000).default(5000),
  /** Whether a project of Keystone becomes one here, with its id, when it is first used. */
  createProjects: z.boolean().default(true),
  /** Projects of Keystone that are one of ours instead. */
  projects: z
    .array(section({ id: z.string().min(1).max(64), project: z.string().min(1).max(64) }))
    .max(1000)
    .default([]),
})
  .refine(({ url, plainBeyondLoopback }) => !isPlain(url) || plainBeyondLoopback, {
    path: ['url'],
    error:
      'is plain HTTP to another machine: tokens and the password would be readable on the way; use https, or set keystone.plainBeyondLoopback',
  })
  .refine(({ url, password, applicationCredentialId: id }) => url === '' || (password === undefined) === (id !== ''), {
    path: ['password'],
    error: 'or keystone.applicationCredentialId is needed with keystone.url, and not both',
  })
  .refine(({ applicationCredentialId: id, applicationCredentialSecret: key }) => (id === '') === (key === undefined), {
    path: ['applicationCredentialSecret'],
    error: 'and keystone.applicationCredentialId belong together: set both or none',
  })
  .prefault({})
