import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import type { ConfigMap, Secret as KubeSecret } from '@spout/kube'
import { Secret } from '@spout/runtime'
import { type OrRefusal, refuse, shown } from '../refusal.ts'

/** The content of a Secret or ConfigMap for a certificate: a chain with its key, certificate authorities, or users. */
export interface TlsContent {
  /** PEM blocks, the leaf first. Empty for users. */
  readonly chain: string
  /** The private key, or the list of users. Null for authorities. */
  readonly key: Secret<string> | null
  /** Identifies this content: SHA-256 in hex over chain and key; for users, over the version of the Secret. */
  readonly hash: string
}

const TLS_TYPE = 'kubernetes.io/tls'
/** Limit for a field of a Secret or ConfigMap. The control plane accepts less. */
const MOST_CHARACTERS = 100_000
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const KEYS = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----/g

/**
 * Reads a Secret as a certificate chain with its key. Checks that both can be parsed and belong together. The control
 * plane checks the rest, such as expiry and weak keys. Text between the PEM blocks, as `openssl` writes it, is left
 * out. A refusal never quotes the Secret.
 */
export function tlsContentOf({ type, data = {} }: KubeSecret): OrRefusal<TlsContent> {
  if (type !== TLS_TYPE)
    return refuse('InvalidCertificate', 'type', `The Secret is of type "${shown(type ?? '')}", not ${TLS_TYPE}.`)
  const chain = blocksOf(data['tls.crt'], CERTIFICATES)
  const [first] = chain
  if (first === undefined)
    return refuse('InvalidCertificate', 'data[tls.crt]', 'The Secret has no certificate in PEM there.')
  const [key, second] = blocksOf(data['tls.key'], KEYS)
  if (key === undefined)
    return refuse('InvalidCertificate', 'data[tls.key]', 'The Secret has no private key without a passphrase there.')
  if (second !== undefined)
    return refuse('InvalidCertificate', 'data[tls.key]', 'The Secret has more than one private key there.')
  const wrong = faultOf(chain, key)
  if (wrong !== null) return refuse('InvalidCertificate', wrong.field, wrong.message)
  const pem = chain.map((block) => `${block}\n`).join('')
  const hash = createHash('sha256').update(pem).update(key).digest('hex')
  return { value: { chain: pem, key: new Secret(`${key}\n`), hash } }
}

/** Reads the authorities of a ConfigMap: PEM blocks under `ca.crt`, as Gateway API's BackendTLSPolicy names it. */
export const authoritiesOf = ({ data = {} }: ConfigMap): OrRefusal<TlsContent> =>
  authoritiesIn(data['ca.crt'] ?? '', 'ConfigMap')

/**
 * Reads the authorities of a Secret of any type: PEM blocks under `ca.crt`, the name that ingress-nginx uses. A Secret
 * with a revocation list (`ca.crl`) is refused, because the list would be ignored silently.
 */
export function secretAuthoritiesOf({ data = {} }: KubeSecret): OrRefusal<TlsContent> {
  if (data['ca.crl'] !== undefined)
    return refuse('InvalidCertificate', 'data[ca.crl]', 'A revocation list in a Secret is not supported.')
  const text = typeof data['ca.crt'] === 'string' && data['ca.crt'].length <= MOST_CHARACTERS ? data['ca.crt'] : ''
  return authoritiesIn(Buffer.from(text, 'base64').toString('latin1'), 'Secret')
}

function authoritiesIn(text: string, kind: string): OrRefusal<TlsContent> {
  const field = 'data[ca.crt]'
  const chain = text.length > MOST_CHARACTERS ? [] : (text.match(CERTIFICATES) ?? [])
  if (chain.length === 0)
    return refuse('InvalidCertificate', field, `The ${kind} has no certificate in PEM under ca.crt.`)
  for (const [at, block] of chain.entries())
    try {
      new X509Certificate(block)
    } catch {
      return refuse('InvalidCertificate', field, `Block ${at + 1} of the ${kind}'s ca.crt is not a certificate.`)
    }
  const pem = chain.map((block) => `${block}\n`).join('')
  return { value: { chain: pem, key: null, hash: createHash('sha256').update(pem).digest('hex') } }
}

function blocksOf(base64: string | undefined, pattern: RegExp): readonly string[] {
  if (typeof base64 !== 'string' || base64.length > MOST_CHARACTERS) return []
  return Buffer.from(base64, 'base64').toString('latin1').match(pattern) ?? []
}

function faultOf(chain: readonly string[], key: string): { readonly field: string; readonly message: string } | null {
  const certificates: X509Certificate[] = []
  for (const [at, block] of chain.entries())
    try {
      certificates.push(new X509Certificate(block))
    } catch {
      return { field: 'data[tls.crt]', message: `Block ${at + 1} of the Secret's chain is not a certificate.` }
    }
  try {
    const privateKey = createPrivateKey(key)
    if (certificates.some((certificate) => certificate.checkPrivateKey(privateKey))) return null
    return { field: 'data[tls.key]', message: 'The private key of the Secret belongs to none of its certificates.' }
  } catch {
    return { field: 'data[tls.key]', message: 'The private key of the Secret cannot be read.' }
  }
}
