import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import type { ConfigMap, Secret as KubeSecret } from '@spout/kube'
import { Secret } from '@spout/runtime'
import { type OrRefusal, refuse, shown } from '../refusal.ts'

/** The content of a Secret of type `kubernetes.io/tls`, of a ConfigMap or Secret with authorities, or of one with users. */
export interface TlsContent {
  /** PEM blocks, the leaf first. Empty when `key` is a list of users. */
  readonly chain: string
  /** Null for a list of authorities. */
  readonly key: Secret<string> | null
  /** Names this content, hex: a SHA-256 over both; of users, over the Secret's version. */
  readonly hash: string
}

const TLS_TYPE = 'kubernetes.io/tls'
/** Larger ones are refused by the control plane in any case. */
const MOST_CHARACTERS = 100_000
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const KEYS = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----/g

/**
 * Reads a Secret as a certificate with its key, and checks that both are what they say and fit together. What else
 * makes a certificate unusable, such as its end or a weak key, the control plane refuses with its reason. Text between
 * the PEM blocks, as `openssl` writes it, is left out. A refusal never quotes the Secret.
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
 * Reads the authorities of a Secret of any type: PEM blocks under `ca.crt`, as ingress-nginx names them. Nothing else
 * in it is looked at but lists of revoked certificates (`ca.crl`), which would be left out without a word.
 */
export function secretAuthoritiesOf({ data = {} }: KubeSecret): OrRefusal<TlsContent> {
  if (data['ca.crl'] !== undefined)
    return refuse('InvalidCertificate', 'data[ca.crl]', 'Lists of revoked certificates in a Secret are not taken.')
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
