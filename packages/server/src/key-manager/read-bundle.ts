import { X509Certificate } from 'node:crypto'
import type { Payload } from '@spout/admission/contract'
import { REVOCATION_LIST_LABEL, SpoutError } from '@spout/model'
import { opensslPipe } from './openssl-pipe.ts'

/** PEM for admission: a certificate and its key. Without a key: certificates of authorities, or revocation lists. */
export interface Bundle {
  readonly chain: string
  readonly key?: string
}

/** The payloads of a container's secrets, by name. */
export type Parts = Readonly<
  Partial<Record<'certificate' | 'private_key' | 'private_key_passphrase' | 'intermediates', Payload>>
>

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]*-----END \1-----/g
const DER_SEQUENCE = 0x30

/**
 * Reads what a secret holds: a PKCS#12 bundle without a passphrase, as Octavia documents it, or PEM with or without a
 * key, or one certificate as DER.
 * @throws SpoutError InvalidField of `payload`, which never quotes it
 */
export async function readBundle({ bytes }: Payload): Promise<Bundle> {
  if (bytes[0] !== DER_SEQUENCE) return blocksOf(bytes.toString('utf8'))
  const certificate = pemOfDer(bytes)
  if (certificate !== null) return { chain: certificate }
  const open = (...more: readonly string[]) =>
    opensslPipe(['pkcs12', '-nodes', '-passin', 'fd:3', ...more], { input: bytes })
  // Bundles of OpenSSL 1.1 use ciphers that later versions call legacy.
  const pem = (await open()) ?? (await open('-legacy'))
  if (pem === null) throw unreadable('is not a readable PKCS12 bundle, or it requires a pass phrase')
  return blocksOf(pem)
}

/** Reads the parts that a certificate container keeps apart. @throws SpoutError InvalidField of `payload` */
export async function readParts({
  certificate,
  private_key: key,
  private_key_passphrase: passphrase,
  intermediates,
}: Parts): Promise<Bundle> {
  if (certificate === undefined) throw unreadable('of secret certificate is missing')
  const chain = [certificate, intermediates].flatMap((part) => (part === undefined ? [] : [chainOf(part)])).join('')
  if (key === undefined) return { chain }
  const pem = passphrase === undefined ? key.bytes.toString('utf8') : await withoutPassphrase(key, passphrase)
  return { chain, key: blocksOf(pem, 'private_key').key ?? pem }
}

async function withoutPassphrase(key: Payload, passphrase: Payload): Promise<string> {
  const pem = await opensslPipe(['pkey', '-passin', 'fd:3'], {
    input: key.bytes,
    passphrase: passphrase.bytes.toString('utf8'),
  })
  if (pem === null) throw unreadable('of secret private_key is not a readable key with this passphrase')
  return pem
}

function chainOf({ bytes }: Payload): string {
  return pemOfDer(bytes) ?? blocksOf(bytes.toString('utf8')).chain
}

function pemOfDer(bytes: Buffer): string | null {
  if (bytes[0] !== DER_SEQUENCE) return null
  try {
    const certificate = new X509Certificate(bytes)
    return certificate.raw.length === bytes.length ? certificate.toString() : null
  } catch {
    return null
  }
}

/** The blocks of PEM. Text between them, such as the attributes that `openssl` prints, is left out. */
function blocksOf(text: string, only?: 'private_key'): Bundle {
  const blocks = [...text.matchAll(BLOCK)].map(([whole, label = '']) => ({ label, pem: `${whole}\n` }))
  const isCertificate = ({ label }: { readonly label: string }) =>
    label === 'CERTIFICATE' || label === REVOCATION_LIST_LABEL
  const chain = blocks.filter(isCertificate)
  const keys = blocks.filter((block) => !isCertificate(block))
  if (only === undefined && chain.length === 0)
    throw unreadable('is not a readable PKCS12 bundle, and has no PEM certificate')
  const join = (some: typeof blocks) => some.map(({ pem }) => pem).join('')
  return { chain: join(chain), ...(keys.length > 0 && { key: join(keys) }) }
}

const unreadable = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'payload', reason })
