import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A certificate made by `openssl`, with its private key, both PEM. */
export interface Issued {
  readonly certificate: string
  readonly key: string
}

/** RSA with so many bits, Ed25519, or ECDSA on a curve by OpenSSL's name. */
export type KeyKind = `rsa:${number}` | 'ed25519' | 'P-256' | 'P-384' | 'secp256k1'

export interface Issue {
  /** DNS names. Default none, and then no subject alternative name unless `alternatives`. */
  readonly names?: readonly string[]
  /** The extension's value for `openssl`, in place of `names`. */
  readonly alternatives?: string
  readonly days?: number
  /** Default an ECDSA key on P-256. */
  readonly newKey?: KeyKind
  /** Default sha256. */
  readonly digest?: string
  /** Who signs it. Default: itself. */
  readonly issuer?: Issued
  readonly isAuthority?: boolean
  /** Default `test <number>`. */
  readonly commonName?: string
}

let serial = 0

/** Issues a certificate. Each has a subject of its own. The key is made here: each process that is started costs a fork. */
export function issueCertificate(given: Issue = {}): Issued {
  const { names = [], days = 90, newKey = 'P-256', digest = 'sha256', issuer, isAuthority = false } = given
  const alternatives = given.alternatives ?? names.map((name) => `DNS:${name}`).join(',')
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-issue-'))
  const file = (name: string): string => path.join(directory, name)
  try {
    serial++
    const extensions = [
      '[ext]',
      `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`,
      ...(alternatives === '' ? [] : [`subjectAltName=${alternatives}`]),
    ]
    writeFileSync(file('ext.cnf'), `${extensions.join('\n')}\n`)
    const { publicKey, privateKey } = generateKey(newKey)
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    if (issuer === undefined) writeFileSync(file('key'), key)
    else {
      writeFileSync(file('public'), publicKey.export({ type: 'spki', format: 'pem' }))
      writeFileSync(file('ca.crt'), issuer.certificate)
      writeFileSync(file('ca.key'), issuer.key)
    }
    const subject = `/O=Spout test/CN=${given.commonName ?? `test ${serial}`}`
    execFileSync(
      'openssl',
      [
        ...['x509', '-new', '-subj', subject, '-days', String(days), `-${digest}`, '-out', file('crt')],
        ...['-extfile', file('ext.cnf'), '-extensions', 'ext'],
        ...(issuer === undefined ? ['-signkey', file('key')] : ['-force_pubkey', file('public')]),
        ...(issuer === undefined
          ? []
          : ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-set_serial', String(serial)]),
      ],
      { stdio: 'pipe', env: {} },
    )
    return { certificate: readFileSync(file('crt'), 'utf8'), key }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function generateKey(kind: KeyKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519')
  if (kind === 'P-256' || kind === 'P-384' || kind === 'secp256k1')
    return generateKeyPairSync('ec', { namedCurve: kind })
  return generateKeyPairSync('rsa', { modulusLength: Number(kind.slice('rsa:'.length)) })
}
