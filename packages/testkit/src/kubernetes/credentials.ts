import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '../lab/run.ts'

/** Users with a static token, and their groups. */
const USERS = {
  admin: { user: 'admin', group: 'system:masters' },
  // All its controllers use this one user instead of a service account each, so it needs all their rights.
  controllerManager: { user: 'system:kube-controller-manager', group: 'system:masters' },
  proxy: { user: 'system:kube-proxy', group: '' },
} as const

type Role = keyof typeof USERS

/** Credentials of a cluster's processes, in one directory of mode 0700. */
export interface Credentials {
  readonly caFile: string
  readonly caKeyFile: string
  readonly certificateFile: string
  readonly keyFile: string
  readonly tokensFile: string
  readonly serviceAccountKeyFile: string
  readonly tokens: Readonly<Record<Role, string>>
  readonly kubeconfigs: Readonly<Record<Role, string>>
}

/** Where a certificate and its key are. */
export type CertificateFiles = Pick<Credentials, 'certificateFile' | 'keyFile'>
type Authority = Pick<Credentials, 'caFile' | 'caKeyFile'>

/** Creates an authority, the API server's certificate for these addresses and names, tokens and kubeconfigs. */
export async function makeCredentials(
  directory: string,
  url: string,
  subjects: readonly string[],
): Promise<Credentials> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = (name: string): string => path.join(directory, name)
  const authority = { caFile: file('ca.crt'), caKeyFile: file('ca.key') }
  const own = { certificateFile: file('server.crt'), keyFile: file('server.key') }
  await makeAuthority(authority)
  await issueCertificate(authority, own, 'kube-apiserver', subjects)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeSecret(file('service-account.key'), privateKey.export({ type: 'sec1', format: 'pem' }) as string)
  const tokens = mapRoles(() => randomBytes(16).toString('hex'))
  const lines = Object.entries(USERS).map(([role, { user, group }]) =>
    [tokens[role as Role], user, role, `"${group}"`].join(','),
  )
  writeSecret(file('tokens.csv'), `${lines.join('\n')}\n`)
  const kubeconfigs = mapRoles((role) => {
    const target = file(`${role}.kubeconfig`)
    writeSecret(target, kubeconfig(url, file('ca.crt'), tokens[role]))
    return target
  })
  return {
    ...authority,
    ...own,
    tokensFile: file('tokens.csv'),
    serviceAccountKeyFile: file('service-account.key'),
    tokens,
    kubeconfigs,
  }
}

/** A kubeconfig with one context (JSON is YAML too). */
export const kubeconfig = (url: string, caFile: string, token: string): string =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'lab', cluster: { server: url, 'certificate-authority': caFile } }],
      users: [{ name: 'user', user: { token } }],
      contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'user' } }],
      'current-context': 'lab',
    },
    null,
    2,
  )}\n`

const mapRoles = <T>(make: (role: Role) => T): Record<Role, T> => ({
  admin: make('admin'),
  controllerManager: make('controllerManager'),
  proxy: make('proxy'),
})

const writeSecret = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600 })

async function makeAuthority({ caFile, caKeyFile }: Authority): Promise<void> {
  await must([
    ...['openssl', 'req', '-x509', ...NEW_KEY, '-subj', '/CN=spout test authority'],
    ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
    ...['-keyout', caKeyFile, '-out', caFile],
  ])
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']

/** Writes a certificate of the cluster's authority for these addresses and names, and its key. */
export async function issueCertificate(
  { caFile, caKeyFile }: Authority,
  { certificateFile, keyFile }: CertificateFiles,
  commonName: string,
  subjects: readonly string[],
): Promise<void> {
  const names = subjects.map((subject) => `${/^[\d.]+$|:/.test(subject) ? 'IP' : 'DNS'}:${subject}`)
  await must([
    ...['openssl', 'req', '-x509', ...NEW_KEY, '-subj', `/CN=${commonName}`, '-CA', caFile, '-CAkey', caKeyFile],
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `subjectAltName=${names.join(',')}`],
    ...['-keyout', keyFile, '-out', certificateFile],
  ])
}
