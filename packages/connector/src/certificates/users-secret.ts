import { createHash } from 'node:crypto'
import type { Secret as KubeSecret } from '@spout/kube'
import { Secret } from '@spout/runtime'
import { type OrRefusal, refuse } from '../refusal.ts'
import type { TlsContent } from './tls-secret.ts'

/** The form of the users in a Secret: an `htpasswd` file under the key `auth`, or a key for each user with the hash. */
export type UsersIn = 'auth-file' | 'auth-map'

/** Limit for the base64 text. The control plane accepts less. */
const MOST_CHARACTERS = 100_000

/**
 * Reads a Secret of any type as a list of users and the hashes of their passwords, as ingress-nginx does. The control
 * plane decides which hashes it accepts. A refusal never quotes the Secret.
 */
export function usersSecretOf({ metadata, data = {} }: KubeSecret, form: UsersIn): OrRefusal<TlsContent> {
  const users = form === 'auth-file' ? fileOf(data) : mapOf(data)
  if ('refusal' in users) return users
  // The hash is not made of the content: a hash over unsalted password hashes would help to guess passwords.
  const version = `${metadata.uid ?? ''}/${metadata.resourceVersion ?? ''}/${form}`
  const hash = createHash('sha256').update(version).digest('hex')
  return { value: { chain: '', key: new Secret(users.value), hash } }
}

function fileOf(data: Readonly<Record<string, string>>): OrRefusal<string> {
  const base64 = data['auth']
  if (typeof base64 !== 'string' || base64 === '')
    return refuse('InvalidUsers', 'data[auth]', 'The Secret has no users under auth.')
  if (base64.length > MOST_CHARACTERS) return refuse('InvalidUsers', 'data[auth]', 'The Secret is too large.')
  return { value: Buffer.from(base64, 'base64').toString('utf8') }
}

function mapOf(data: Readonly<Record<string, string>>): OrRefusal<string> {
  const lines: string[] = []
  let size = 0
  // Sorted, because the API server does not keep the order of keys.
  for (const [name, base64] of Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))) {
    size += typeof base64 === 'string' ? base64.length : MOST_CHARACTERS
    if (size > MOST_CHARACTERS) return refuse('InvalidUsers', 'data', 'The Secret is too large.')
    const hash = Buffer.from(base64, 'base64').toString('utf8').trim()
    // A line break in a name or a hash would add another user.
    if (/[:\r\n]|^#/.test(name) || /[\r\n]/.test(hash))
      return refuse('InvalidUsers', 'data', `User ${lines.length + 1} of the Secret has a line end or a colon.`)
    lines.push(`${name}:${hash}\n`)
  }
  return { value: lines.join('') }
}
