import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { SpoutError } from '@spout/model'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { FastifyInstance } from 'fastify'
import type { ServedCertificate, ServerTls } from './served-certificate.ts'
import { takeIntoUse } from './served-certificate.ts'

export interface CertificateFilesOptions {
  /** PEM: the server's certificate, then its chain. */
  readonly certificateFile: string
  /** PEM: the certificate's key, without a passphrase. */
  readonly keyFile: string
  /** Names of the settings, for errors. */
  readonly fields: { readonly certificateFile: string; readonly keyFile: string }
  readonly tls: ServerTls
  readonly clock: Clock
  readonly log: Logger
}

interface Pair {
  readonly cert: string
  readonly key: string
  readonly leaf: X509Certificate
}

/** How often the files are read. A renewal writes them long before the old certificate expires. */
const LOOK_MS = 5_000
/** Limit of certificates in a chain. Public authorities need two or three. */
const MOST_CERTIFICATES = 10
const MOST_CHARACTERS = 65_536
const RSA_BITS_MIN = 2048
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

/**
 * A server's certificate from the operator's files. They are read again every few seconds. A new certificate is used
 * from the next handshake on, and no connection is lost. Unusable files are refused and logged once, and the previous
 * certificate stays in force.
 */
export class CertificateFiles implements ServedCertificate {
  readonly #options: CertificateFilesOptions
  #inForce: Pair | null = null
  /** The last refusal, so that it is logged once. */
  #refused: string | null = null
  #failedOnce = false
  #look: Timer | null = null

  constructor(options: CertificateFilesOptions) {
    this.#options = options
  }

  get expiresAt(): Date | null {
    return this.#inForce?.leaf.validToDate ?? null
  }

  /** Whether the files are unusable, so that an earlier certificate is in force. */
  get isRefused(): boolean {
    return this.#refused !== null
  }

  /** @throws SpoutError InvalidField, with the setting and the reason */
  async context(): Promise<SecureContextOptions> {
    const pair = await this.#read()
    this.#take(pair)
    return this.#contextOf(pair)
  }

  keep(app: FastifyInstance): void {
    this.#look = this.#options.clock.setTimer(() => {
      void this.#compare(app).then(() => this.keep(app))
    }, LOOK_MS)
  }

  stop(): void {
    this.#look?.clear()
  }

  async #compare(app: FastifyInstance): Promise<void> {
    try {
      const pair = await this.#read()
      this.#failedOnce = false
      const same = pair.cert === this.#inForce?.cert && pair.key === this.#inForce.key
      if (same && this.#refused === null) return
      takeIntoUse(app, this.#contextOf(pair))
      this.#take(pair)
    } catch (error) {
      // Two files cannot be replaced at one instant. What does not match now may match at the next read.
      if (this.#failedOnce) this.#refuse(error)
      this.#failedOnce = true
    }
  }

  #take(pair: Pair): void {
    this.#inForce = pair
    this.#refused = null
    const { subjectAltName: names = '', issuer, serialNumber: serial } = pair.leaf
    this.#options.log.info(
      { event: 'certificate-in-force', names, issuer, serial, expiresAt: pair.leaf.validToDate.toISOString() },
      'the next handshake shows this certificate',
    )
  }

  #refuse(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason === this.#refused) return
    this.#refused = reason
    const expiresAt = this.expiresAt?.toISOString()
    this.#options.log.error(
      { event: 'certificate-refused', reason, expiresAt },
      'the new certificate is refused; the previous one stays in force',
    )
  }

  #contextOf({ cert, key }: Pair): SecureContextOptions {
    return { ...this.#options.tls, cert, key }
  }

  async #read(): Promise<Pair> {
    const { certificateFile, keyFile, fields } = this.#options
    const [cert, keyText] = await Promise.all([
      textOf(certificateFile, fields.certificateFile),
      textOf(keyFile, fields.keyFile),
    ])
    const chain = chainOf(cert, fields.certificateFile)
    const [leaf] = chain
    const key = keyOf(keyText, fields.keyFile)
    requireUsable(leaf, this.#options.clock.now(), fields.certificateFile)
    if (!leaf.checkPrivateKey(key)) throw refusal(fields.keyFile, 'is not the key of the first certificate')
    try {
      // OpenSSL itself may refuse it, for example for a weak digest.
      createSecureContext({ ...this.#options.tls, cert, key: keyText })
    } catch (error) {
      throw refusal(fields.certificateFile, `cannot be used: ${reasonOf(error)}`)
    }
    return { cert, key: keyText, leaf }
  }
}

const refusal = (field: string, reason: string): SpoutError => new SpoutError('InvalidField', { field, reason })

/** OpenSSL's message without its numbers: `error:0A00018F:SSL routines::ee key too small`. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^error:[0-9A-F]+:[^:]*:[^:]*:/, '')

async function textOf(path: string, field: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refusal(field, `${path} cannot be read: ${error.code ?? error.message}`)
  })
  if (text.length > MOST_CHARACTERS) throw refusal(field, `${path} is longer than ${MOST_CHARACTERS} characters`)
  return text
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The server's certificate and its chain, each issued by the next. */
function chainOf(text: string, field: string): readonly [X509Certificate, ...X509Certificate[]] {
  const texts = text.match(CERTIFICATE) ?? []
  if (texts.length > MOST_CERTIFICATES) throw refusal(field, `has more than ${MOST_CERTIFICATES} certificates`)
  const [leaf, ...others] = texts.map((pem, at) => {
    try {
      return new X509Certificate(pem)
    } catch {
      throw refusal(field, `certificate ${at + 1} is not one in PEM`)
    }
  })
  if (leaf === undefined) throw refusal(field, 'has no certificate in PEM')
  let before = leaf
  for (const [at, issuer] of others.entries()) {
    if (!before.checkIssued(issuer) || !before.verify(issuer.publicKey))
      throw refusal(field, `certificate ${at + 2} did not issue certificate ${at + 1}: the server's comes first`)
    before = issuer
  }
  return [leaf, ...others]
}

function keyOf(text: string, field: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw refusal(field, 'is not a private key in PEM without a passphrase')
  }
}

function requireUsable(leaf: X509Certificate, now: Date, field: string): void {
  if (leaf.validToDate <= now) throw refusal(field, `expired at ${leaf.validToDate.toISOString()}`)
  if (leaf.validFromDate > now) throw refusal(field, `is not valid before ${leaf.validFromDate.toISOString()}`)
  if (leaf.ca) throw refusal(field, 'the first certificate is that of an authority, not of a server')
  if (leaf.subjectAltName === undefined)
    throw refusal(field, 'names no host in its subjectAltName: clients look nowhere else (RFC 9525)')
  // Node.js gives extended usage as object identifiers, and undefined for a certificate without restrictions.
  if (leaf.keyUsage !== undefined && !leaf.keyUsage.includes(SERVER_AUTH))
    throw refusal(field, 'is not meant for servers (extendedKeyUsage has no serverAuth)')
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = leaf.publicKey
  // Ed25519 stands for ECDSA in suites of TLS 1.2, too (RFC 8422, section 5.1.1).
  const strong =
    type === 'ec' || type === 'ed25519' || (type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN)
  if (!strong) throw refusal(field, `needs a key of EC or Ed25519, or of RSA with ${RSA_BITS_MIN} bits or more`)
}
