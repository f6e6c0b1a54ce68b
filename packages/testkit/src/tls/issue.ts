import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A certificate made by `openssl`, with its private key, both PEM. */
export interface Issued {
  readonly certificate: string
  readonly key: string
}

export interface Issue {
  /** DNS names. Default none, and then no subject alternative name unless `alternatives`. */
  readonly names?: readonly string[]
  /** The extension's value for `openssl`, in place of `names`. */
  readonly alternatives?: string
  readonly days?: number
  /** For `openssl req -newkey`. Default an ECDSA key on P-256. */
  readonly newKey?: readonly string[]
  /** Default sha256. */
  readonly digest?: string
  /** Who signs it. Default: itself. */
  readonly issuer?: Issued
  readonly isAuthority?: boolean
  /** Default `test <number>`. */
  readonly commonName?: string
}

export const P256: readonly string[] = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

let serial = 0

/** Issues a certificate. Each has a subject of its own. */
export function issueCertificate(given: Issue = {}): Issued {
  const { names = [], days = 90, newKey = P256, digest = 'sha256', issuer, isAuthority = false } = given
  const alternatives = given.alternatives ?? names.map((name) => `DNS:${name}`).join(',')
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-issue-'))
  const file = (name: string): string => path.join(directory, name)
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { stdio: 'pipe', env: {} })
  }
  try {
    serial++
    const extensions = [
      '[ext]',
      `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`,
      ...(alternatives === '' ? [] : [`subjectAltName=${alternatives}`]),
    ]
    writeFileSync(file('ext.cnf'), `${extensions.join('\n')}\n`)
    writeFileSync(file('req.cnf'), '[req]\ndistinguished_name=name\n[name]\n')
    const subject = `/O=Spout test/CN=${given.commonName ?? `test ${serial}`}`
    openssl(
      'req',
      '-config',
      file('req.cnf'),
      '-new',
      '-newkey',
      ...newKey,
      '-nodes',
      `-${digest}`,
      '-subj',
      subject,
      '-keyout',
      file('key'),
      '-out',
      file('csr'),
    )
    const own = [
      '-req',
      '-in',
      file('csr'),
      '-days',
      String(days),
      `-${digest}`,
      '-extfile',
      file('ext.cnf'),
      '-extensions',
      'ext',
    ]
    if (issuer === undefined) openssl('x509', ...own, '-signkey', file('key'), '-out', file('crt'))
    else {
      writeFileSync(file('ca.crt'), issuer.certificate)
      writeFileSync(file('ca.key'), issuer.key)
      openssl(
        'x509',
        ...own,
        '-CA',
        file('ca.crt'),
        '-CAkey',
        file('ca.key'),
        '-set_serial',
        String(serial),
        '-out',
        file('crt'),
      )
    }
    return { certificate: readFileSync(file('crt'), 'utf8'), key: readFileSync(file('key'), 'utf8') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
