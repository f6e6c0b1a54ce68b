import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { ipToBytes, parseIp } from '@spout/net'
import { bits, contentOf, der, inside, integer, nothing, octets, oid, sequence, set, time, utf8, yes } from './der.ts'

/** A certificate with its private key, both PEM. */
export interface Issued {
  readonly certificate: string
  readonly key: string
}

/** RSA with so many bits, Ed25519, or ECDSA on a curve by OpenSSL's name. */
export type KeyKind = `rsa:${number}` | 'ed25519' | 'P-256' | 'P-384' | 'secp256k1'

export interface Issue {
  /** DNS names. Default none, and then no subject alternative name unless `alternatives`. */
  readonly names?: readonly string[]
  /** The extension in place of `names`: `DNS:`, `email:` or `URI:` and a text, `IP:`, or `DER:` and the bytes in hexadecimal. */
  readonly alternatives?: string
  readonly days?: number
  /** Default an ECDSA key on P-256. */
  readonly newKey?: KeyKind
  /** Default sha256. */
  readonly digest?: 'sha256' | 'sha1' | 'md5'
  /** Who signs it. Default: itself. */
  readonly issuer?: Issued
  readonly isAuthority?: boolean
  /** Default `test <number>`. */
  readonly commonName?: string
}

const DAY_MS = 24 * 60 * 60_000
let issued = 0

/**
 * Issues a certificate (RFC 5280). Each has a subject of its own. It is written here: `openssl` would take 20 ms of the
 * processor for each, most of it to fork a large process.
 */
export function issueCertificate(given: Issue = {}): Issued {
  const { names = [], days = 90, newKey = 'P-256', digest = 'sha256', issuer, isAuthority = false } = given
  issued++
  const { publicKey, privateKey } = generateKey(newKey)
  const subject = nameOf(given.commonName ?? `test ${issued}`)
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key)
  const algorithm = signatureAlgorithm(signer, digest)
  const now = Date.now()
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    issuer === undefined ? subject : subjectOf(issuer),
    sequence(time(new Date(now)), time(new Date(now + days * DAY_MS))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        ...extensions(isAuthority, given.alternatives ?? names.map((name) => `DNS:${name}`).join(',')),
        ...keyIdentifiers(publicKey, issuer),
      ),
    ),
  )
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : digest, body, signer)
  return {
    certificate: pem(sequence(body, algorithm, bits(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function generateKey(kind: KeyKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519')
  if (kind === 'P-256' || kind === 'P-384' || kind === 'secp256k1')
    return generateKeyPairSync('ec', { namedCurve: kind })
  return generateKeyPairSync('rsa', { modulusLength: Number(kind.slice('rsa:'.length)) })
}

const nameOf = (commonName: string): Buffer =>
  sequence(
    set(sequence(oid('2.5.4.10'), utf8('Spout test'))),
    ...(commonName === '' ? [] : [set(sequence(oid('2.5.4.3'), utf8(commonName)))]),
  )

/** RFC 5280, 4.1: the certificate's body begins with version, number, algorithm, issuer and validity. */
const subjectOf = ({ certificate }: Issued): Uint8Array => inside(inside(new X509Certificate(certificate).raw)[0]!)[5]!

const RSA = { sha256: '1.2.840.113549.1.1.11', sha1: '1.2.840.113549.1.1.5', md5: '1.2.840.113549.1.1.4' } as const
const ECDSA = { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1', md5: null } as const

function signatureAlgorithm({ asymmetricKeyType: type }: KeyObject, digest: keyof typeof RSA): Buffer {
  if (type === 'ed25519') return sequence(oid('1.3.101.112'))
  if (type === 'rsa') return sequence(oid(RSA[digest]), nothing)
  const known = ECDSA[digest]
  if (known === null) throw new Error(`ECDSA does not sign with ${digest}`)
  return sequence(oid(known))
}

const extensions = (isAuthority: boolean, alternatives: string): readonly Buffer[] => [
  sequence(oid('2.5.29.19'), yes, octets(isAuthority ? sequence(yes) : sequence())),
  ...(alternatives === '' ? [] : [sequence(oid('2.5.29.17'), octets(alternativesOf(alternatives)))]),
]

/** RFC 5280, 4.2.1.1 and 4.2.1.2, by the first of its methods: a hash of the key. */
const keyIdentifiers = (publicKey: KeyObject, issuer: Issued | undefined): readonly Buffer[] => [
  sequence(oid('2.5.29.14'), octets(octets(hashOf(publicKey)))),
  ...(issuer === undefined
    ? []
    : [sequence(oid('2.5.29.35'), octets(sequence(der(0x80, hashOf(createPublicKey(issuer.certificate))))))]),
]

/** Of the bits of the key, without the byte that counts the unused ones. */
const hashOf = (publicKey: KeyObject): Buffer => {
  const key = contentOf(inside(publicKey.export({ type: 'spki', format: 'der' }))[1]!)
  return createHash('sha1').update(key.subarray(1)).digest()
}

/** Tags of RFC 5280, 4.2.1.6. */
const ALTERNATIVES: Readonly<Record<string, number>> = { email: 0x81, DNS: 0x82, URI: 0x86 }

function alternativesOf(text: string): Uint8Array {
  if (text.startsWith('DER:')) return Buffer.from(text.slice('DER:'.length), 'hex')
  const all = text.split(',').map((one) => {
    const [kind = '', value = ''] = one.split(/:(.*)/s)
    if (kind === 'IP') return der(0x87, ipToBytes(parseIp(value)))
    const tag = ALTERNATIVES[kind]
    if (tag === undefined) throw new Error(`${kind} is no kind of alternative name that tests use`)
    return der(tag, Buffer.from(value))
  })
  return sequence(...all)
}

const pem = (certificate: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${(
    Buffer.from(certificate)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  ).join('\n')}\n-----END CERTIFICATE-----\n`
