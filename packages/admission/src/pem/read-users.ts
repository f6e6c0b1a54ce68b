import { createHash, randomBytes } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { contentIdOf } from '@spout/model/content-id'
import type { CertificateContent } from './read-certificate.ts'

/** Limit of the text that nodes get: some 250 users with bcrypt. */
const MOST_BYTES = 20_000
const LONGEST_NAME = 255
const NEVER = '9999-12-31T23:59:59.000Z'

/** A kind of hash: what it looks like, and the cost of one guess as far as it is chosen by who made it. */
interface HashKind {
  readonly pattern: RegExp
  /** @param cost the first group of the pattern, where it has one */
  readonly whyNot?: (cost: number) => string | null
}

const MOST_BCRYPT = 12
const MOST_ROUNDS = 500_000
const rounds = (cost: number): string | null =>
  cost > MOST_ROUNDS ? `${MOST_ROUNDS} rounds are the most: with more a guess would occupy a processor for long` : null

/** The hashes that nodes can compare (`native/passwords/verify.c`). */
const KINDS: readonly HashKind[] = [
  {
    pattern: /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/,
    whyNot: (cost) =>
      cost < 4 || cost > MOST_BCRYPT
        ? `a cost of 4 to ${MOST_BCRYPT} is taken: with more a guess would occupy a processor for long`
        : null,
  },
  { pattern: /^\$apr1\$[./A-Za-z0-9]{0,8}\$[./A-Za-z0-9]{22}$/ },
  { pattern: /^\{SHA\}[A-Za-z0-9+/]{27}=$/ },
  { pattern: /^\$5\$(?:rounds=(\d{4,9})\$)?[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{43}$/, whyNot: rounds },
  { pattern: /^\$6\$(?:rounds=(\d{4,9})\$)?[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{86}$/, whyNot: rounds },
]

/**
 * Reads users and the hashes of their passwords, a line `NAME:HASH` for each as `htpasswd` writes them. Empty lines and
 * those that begin with `#` are left out, as is what follows a second colon. Of a user's lines the first counts.
 * @returns what is stored instead of a key: a line of random digits, so that the content id reveals nothing of the
 * hashes, then a line for each user with the name in hex
 * @throws SpoutError InvalidField, which names the line and never quotes it
 */
export function readUsers(
  text: string,
  nowMs: number,
): { readonly content: CertificateContent; readonly keyPem: string } {
  const hashes = new Map<string, string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line === '' || line.startsWith('#')) continue
    const refusal = (why: string) =>
      new SpoutError('InvalidField', { field: 'users', reason: `line ${at + 1}: ${why}` })
    const [name = '', hash] = line.split(':')
    if (hash === undefined) throw refusal('is not NAME:HASH')
    const bytes = Buffer.byteLength(name)
    if (bytes === 0 || bytes > LONGEST_NAME) throw refusal(`a name has 1 to ${LONGEST_NAME} bytes`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is refused
    if (/[\x00-\x1f\x7f\ufffd]/.test(name)) throw refusal('a name has no control characters, and is UTF-8')
    const why = whyNoHash(hash)
    if (why !== null) throw refusal(why)
    if (!hashes.has(name)) hashes.set(name, hash)
  }
  if (hashes.size === 0) throw new SpoutError('InvalidField', { field: 'users', reason: 'has no user' })
  const lines = [...hashes].map(([name, hash]) => `${Buffer.from(name).toString('hex')}:${hash}\n`)
  const keyPem = [`${randomBytes(16).toString('hex')}\n`, ...lines].join('')
  if (keyPem.length > MOST_BYTES)
    throw new SpoutError('InvalidField', {
      field: 'users',
      reason: `has ${hashes.size} users in ${keyPem.length} bytes; ${MOST_BYTES} are the most`,
    })
  const content: CertificateContent = {
    chain: '',
    contentId: contentIdOf(keyPem),
    names: [],
    subject: hashes.size === 1 ? '1 user' : `${hashes.size} users`,
    issuer: '',
    notBefore: new Date(nowMs).toISOString(),
    notAfter: NEVER,
    keyType: 'none',
    fingerprint: createHash('sha256').update(keyPem).digest('hex'),
  }
  return { content, keyPem }
}

function whyNoHash(hash: string): string | null {
  for (const { pattern, whyNot } of KINDS) {
    const found = pattern.exec(hash)
    if (found === null) continue
    return found[1] === undefined ? null : (whyNot?.(Number(found[1])) ?? null)
  }
  return 'its hash is none of bcrypt ($2a$, $2b$, $2y$), $apr1$, {SHA}, $5$ and $6$'
}

/** Whether two stored lists have the same users with the same hashes. */
export const hasSameUsers = (a: string, b: string): boolean => withoutSalt(a) === withoutSalt(b)

const withoutSalt = (list: string): string => list.slice(list.indexOf('\n'))
