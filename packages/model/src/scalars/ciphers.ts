/**
 * TLS cipher suites by OpenSSL's names: those with forward secrecy (RFC 9325 section 4.1) that OpenSSL 3.0 offers for
 * RSA and ECDSA certificates. Suites with CBC are included for old clients that support nothing else.
 */

export const TLS13_CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
] as const

const USUAL_TLS12_CIPHERS = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
] as const

export const TLS12_CIPHERS = [
  ...USUAL_TLS12_CIPHERS,
  'DHE-RSA-AES256-GCM-SHA384',
  'DHE-RSA-AES128-GCM-SHA256',
  'DHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'DHE-RSA-AES256-SHA256',
  'DHE-RSA-AES128-SHA256',
  'DHE-RSA-AES256-SHA',
  'DHE-RSA-AES128-SHA',
] as const

export const CIPHERS = [...TLS13_CIPHERS, ...TLS12_CIPHERS] as const
export type Cipher = (typeof CIPHERS)[number]

/** The ciphers of a listener or pool that names none, in order of preference. */
export const DEFAULT_CIPHERS: readonly Cipher[] = [...TLS13_CIPHERS, ...USUAL_TLS12_CIPHERS]

const KNOWN: ReadonlySet<string> = new Set(CIPHERS)
export const isCipher = (name: string): name is Cipher => KNOWN.has(name)

const REASONS: readonly (readonly [name: RegExp, reason: string])[] = [
  [/^[!+]/, 'is an expression: ciphers are named one by one'],
  [/NULL/, 'does not encrypt'],
  [/^EXP|EXPORT/, 'has a key that was made short for export'],
  [/RC4/, 'uses RC4, which is broken (RFC 7465)'],
  [/DES/, 'uses DES, whose blocks are too short'],
  [/MD5/, 'uses MD5, which is broken'],
  [/^A(?:EC)?DH-|aNULL/, 'is anonymous: nobody would know whom he speaks with'],
  [/PSK|SRP/, 'needs a secret that both sides know'],
  [/DSS/, 'needs a certificate of DSA, which is not accepted'],
  [/CCM|CAMELLIA|ARIA/, 'is not offered here'],
  [/^(?:AES|kRSA|RSA)(?:\d|-|$)/, 'has no forward secrecy (RFC 9325 section 4.1)'],
]

/** Why a cipher is refused; null for one that is offered. */
export function whyNoCipher(name: string): string | null {
  if (isCipher(name)) return null
  const known = REASONS.find(([pattern]) => pattern.test(name))
  return known?.[1] ?? 'is not the name of a cipher of OpenSSL 3; expressions such as HIGH or @STRENGTH are not taken'
}
