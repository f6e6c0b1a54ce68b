import { createHash, createPublicKey, randomBytes, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { SpoutError } from '@spout/model'
import { OpensslError, withOpenssl } from './openssl.ts'

export interface Credentials {
  readonly key: string
  /** The leaf, then the authority, so that a peer can find the certificate that its token pins. */
  readonly certificate: string
}

export interface IssuedCertificate {
  readonly certificate: string
  /** SHA-256 of the certificate (DER), hex, as recorded for the node. */
  readonly sha256: string
}

const CA_DAYS = '3650'
const LEAF_DAYS = '90'
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const
const NODE_URI_PREFIX = 'spiffe://spout/node/'
const CONTROL_PLANE_URI = 'spiffe://spout/control-plane'
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1'])
const MIN_RSA_BITS = 2048
const MAX_CSR_LENGTH = 16_384

/**
 * The authority of the agent link. It is created once and kept in the state directory; only its owner can read the key.
 */
export class CertificateAuthority {
  /** PEM. */
  readonly certificate: string
  readonly #directory: string
  readonly #keyPath: string
  readonly #certificatePath: string

  private constructor(directory: string, certificate: string) {
    this.#directory = directory
    this.#keyPath = join(directory, 'ca.key')
    this.#certificatePath = join(directory, 'ca.crt')
    this.certificate = certificate
  }

  /** Reads the authority from this directory, or creates it. */
  static async open(directory: string): Promise<CertificateAuthority> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, 'ca.crt')
    const known = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return null
    })
    if (known !== null) return new CertificateAuthority(directory, known)
    await withOpenssl(directory, async (tool) => {
      await tool.run(
        ...['req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', CA_DAYS],
        ...['-subj', `/CN=Spout agent link ${randomBytes(4).toString('hex')}`],
        ...['-addext', 'basicConstraints=critical,CA:TRUE,pathlen:0'],
        ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
      )
      await keep(join(directory, 'ca.key'), await tool.get('ca.key'))
      // Written last: the authority exists once its certificate does.
      await keep(path, await tool.get('ca.crt'))
    })
    return new CertificateAuthority(directory, await readFile(path, 'utf8'))
  }

  /** The pin in enrolment tokens: the first 128 bits of the certificate's SHA-256, hex. */
  get pin(): string {
    return fingerprint(this.certificate).slice(0, 32)
  }

  /** A new key and certificate for the server, for these host names and addresses. */
  issueServer(hosts: readonly string[]): Promise<Credentials> {
    return this.#issue(namesOf(hosts), 'serverAuth')
  }

  /** A new key and certificate for a control plane: for both ends of its connections to the others. */
  issueControlPlane(host: string): Promise<Credentials> {
    return this.#issue([...namesOf([host]), `URI:${CONTROL_PLANE_URI}`], 'serverAuth,clientAuth')
  }

  #issue(names: readonly string[], purpose: Purpose): Promise<Credentials> {
    return withOpenssl(this.#directory, async (tool) => {
      await tool.run('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'server.key')
      await tool.run('pkey', '-in', 'server.key', '-pubout', '-out', 'public.pem')
      await tool.put('extensions.cnf', extensions(names.join(','), purpose))
      await this.#sign(tool)
      return { key: await tool.get('server.key'), certificate: `${await tool.get('leaf.crt')}${this.certificate}` }
    })
  }

  /**
   * A certificate for a node's key. Only the key of the request is used, after its self-signature was verified.
   * @throws SpoutError InvalidField for an invalid request or a weak key
   */
  issueNode(csr: string, nodeId: string): Promise<IssuedCertificate> {
    if (csr.length > MAX_CSR_LENGTH) throw badRequest('is too long')
    return withOpenssl(this.#directory, async (tool) => {
      await tool.put('node.csr', csr)
      const said = await tool
        .run('req', '-in', 'node.csr', '-verify', '-pubkey', '-noout', '-out', 'public.pem')
        .catch(refuse)
      // OpenSSL 3.0 exits with 0 for a wrong signature and only prints it.
      if (!said.includes('verify OK')) throw badRequest('is not a signed certificate request')
      refuseWeakKey(await tool.get('public.pem'))
      await tool.put('extensions.cnf', extensions(`URI:${NODE_URI_PREFIX}${nodeId}`, 'clientAuth'))
      await this.#sign(tool)
      const certificate = await tool.get('leaf.crt')
      return { certificate, sha256: fingerprint(certificate) }
    })
  }

  async #sign(tool: { run(...args: readonly string[]): Promise<string> }): Promise<void> {
    await tool.run(
      ...['x509', '-new', '-subj', '/CN=Spout', '-force_pubkey', 'public.pem', '-extfile', 'extensions.cnf'],
      ...['-CA', this.#certificatePath, '-CAkey', this.#keyPath, '-days', LEAF_DAYS, '-out', 'leaf.crt'],
      ...['-set_serial', `0x00${randomBytes(16).toString('hex')}`],
    )
  }
}

/** The node that a certificate was issued to; null if it is not one of ours. */
export function nodeIdOf(certificate: X509Certificate): string | null {
  const match = /^URI:spiffe:\/\/spout\/node\/([0-9a-f-]{36})$/.exec(certificate.subjectAltName ?? '')
  return match?.[1] ?? null
}

/** Whether a certificate was issued to a control plane, for its connections to the others. */
export const isControlPlane = (certificate: X509Certificate): boolean =>
  (certificate.subjectAltName ?? '').split(', ').includes(`URI:${CONTROL_PLANE_URI}`)

const namesOf = (hosts: readonly string[]): readonly string[] =>
  hosts.map((host) => (isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`))

const fingerprint = (pem: string): string => createHash('sha256').update(new X509Certificate(pem).raw).digest('hex')

type Purpose = 'serverAuth' | 'clientAuth' | 'serverAuth,clientAuth'

const extensions = (names: string, purpose: Purpose): string =>
  [
    `subjectAltName=${names}`,
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature',
    `extendedKeyUsage=${purpose}`,
    '',
  ].join('\n')

const badRequest = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'csr', reason })

const refuse = (error: unknown): never => {
  throw error instanceof OpensslError ? badRequest('is not a signed certificate request') : error
}

function refuseWeakKey(pem: string): void {
  const key = createPublicKey(pem)
  const details = key.asymmetricKeyDetails
  const strong =
    key.asymmetricKeyType === 'ed25519' ||
    (key.asymmetricKeyType === 'ec' && CURVES.has(details?.namedCurve ?? '')) ||
    (key.asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS)
  if (!strong) throw badRequest('holds a key that is too weak: use EC P-256')
}

/** Replaces a file atomically. Only its owner can read it. */
async function keep(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
