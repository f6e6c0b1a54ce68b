import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Issued } from './issue.ts'

/** How a list of revoked certificates is made. */
export interface Revocation {
  readonly revoked?: readonly Issued[]
  /** Until its next update. Default 30. */
  readonly days?: number
  /** Default sha256. */
  readonly digest?: string
  /** Lines of extensions for `openssl ca`. Default none. */
  readonly extensions?: readonly string[]
}

/** Makes an authority's list of revoked certificates with `openssl`, PEM. */
export function revocationList(
  { certificate, key }: Issued,
  { revoked = [], days = 30, digest = 'sha256', extensions = [] }: Revocation = {},
): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-revoke-'))
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(directory, name), text)
    return path.join(directory, name)
  }
  try {
    const rows = revoked.map((one) => {
      const { serialNumber } = new X509Certificate(one.certificate)
      return `R\t490101000000Z\t200101000000Z\t${serialNumber}\tunknown\t/CN=revoked\n`
    })
    const config = [
      ...['[ca]', 'default_ca = own', '[own]', `default_md = ${digest}`],
      `database = ${file('index', rows.join(''))}`,
      `crlnumber = ${file('number', '01\n')}`,
      `certificate = ${file('ca.crt', certificate)}`,
      `private_key = ${file('ca.key', key)}`,
      ...(extensions.length === 0 ? [] : ['crl_extensions = extensions', '[extensions]', ...extensions]),
    ]
    const args = ['ca', '-config', file('config', `${config.join('\n')}\n`), '-gencrl', '-crldays', String(days)]
    execFileSync('openssl', [...args, '-out', path.join(directory, 'list')], { stdio: 'pipe', env: {} })
    return readFileSync(path.join(directory, 'list'), 'utf8')
  } finally {
    rmSync(directory, { recursive: true })
  }
}
