import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { kubeconfigAccess } from './kubeconfig.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'
const KEY = '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n'
const base64 = (text: string) => Buffer.from(text).toString('base64')

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'kubeconfig-'))
  await mkdir(path.join(directory, 'pki'))
  await writeFile(path.join(directory, 'pki/ca.crt'), PEM)
  await writeFile(path.join(directory, 'pki/client.crt'), PEM)
  await writeFile(path.join(directory, 'pki/client.key'), KEY)
})
afterAll(() => rm(directory, { recursive: true }))

async function access(cluster: object, user: object, context: object = {}, name?: string) {
  const file = path.join(directory, 'config')
  const config = {
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  }
  await writeFile(file, stringify(config))
  return kubeconfigAccess(file, name)
}

describe('a kubeconfig with', () => {
  it('a token, a CA as data, and a namespace', async () => {
    const found = await access({ 'certificate-authority-data': base64(PEM) }, { token: 't0ken' }, { namespace: 'here' })
    expect(found).toMatchObject({ ca: PEM, namespace: 'here', skipTlsVerify: false, clientCertificate: null })
    expect(found.server.href).toBe('https://192.0.2.1:6443/')
    expect(found.token?.type === 'value' && found.token.token.reveal()).toBe('t0ken')
    expect(JSON.stringify(found)).not.toContain('t0ken')
  })

  it('relative files; a tokenFile has precedence over a token', async () => {
    const found = await access(
      { 'certificate-authority': 'pki/ca.crt', 'tls-server-name': 'api' },
      { tokenFile: 'token', token: 'x', 'client-certificate': 'pki/client.crt', 'client-key': 'pki/client.key' },
    )
    expect(found).toMatchObject({
      ca: PEM,
      tlsServerName: 'api',
      token: { type: 'file', path: path.join(directory, 'token') },
      clientCertificate: { certificate: PEM },
    })
    expect(found.clientCertificate?.key.reveal()).toBe(KEY)
  })

  it('client certificate and key as data; no user name', async () => {
    const user = { 'client-certificate-data': base64(PEM), 'client-key-data': base64(KEY) }
    expect((await access({}, user)).clientCertificate?.certificate).toBe(PEM)
    expect(await access({}, {}, { user: '' })).toMatchObject({
      token: null,
      clientCertificate: null,
      namespace: 'default',
    })
  })
})

describe('a refusal names the field of', () => {
  it.each([
    [{}, { exec: { command: 'aws' } }, 'users[u].user.exec: programs that print credentials are not run'],
    [{}, { 'auth-provider': { name: 'oidc' } }, 'users[u].user.auth-provider: plugins are not supported'],
    [{}, { username: 'a', password: 'b' }, 'users[u].user.username'],
    [{}, { as: 'root' }, 'users[u].user.as: impersonation'],
    [{ 'proxy-url': 'http://p' }, {}, 'clusters[c].cluster.proxy-url: proxies'],
    [{ server: 'ftp://x' }, {}, 'clusters[c].cluster.server: "ftp://x" is not an http or https URL'],
    [{ server: 7 }, {}, 'clusters[c].cluster.server: Invalid input: expected string'],
    [{ server: 'http://192.0.2.1' }, { token: 'x' }, 'credentials are not sent over http'],
    [{ 'certificate-authority-data': 'AAAA' }, {}, 'clusters[c].cluster.certificate-authority-data: not PEM in base64'],
    [{ 'certificate-authority': 'no/where' }, {}, 'clusters[c].cluster.certificate-authority: '],
    [{}, { 'client-certificate': 'pki/client.crt' }, 'users[u].user.client-key: missing'],
    [{}, { 'client-key': 'pki/client.key' }, 'users[u].user.client-certificate: missing'],
  ])('%j %j', async (cluster, user, message) => {
    await expect(access(cluster, user)).rejects.toThrow(message)
  })

  it('missing contexts, clusters and users', async () => {
    await expect(access({}, {}, {}, 'other')).rejects.toThrow('contexts has no entry named "other"')
    await expect(access({}, {}, { cluster: 'x' })).rejects.toThrow('clusters has no entry named "x"')
    await expect(access({}, {}, { user: 'x' })).rejects.toThrow('users has no entry named "x"')
  })

  it('files that are missing, not YAML or empty; it never quotes them', async () => {
    await expect(kubeconfigAccess(path.join(directory, 'none'))).rejects.toThrow('ENOENT')
    const file = path.join(directory, 'bad')
    await writeFile(file, 'users: [{ token: s3cret ]')
    await expect(kubeconfigAccess(file)).rejects.toThrow(/bad: not YAML: (?!.*s3cret)/)
    await writeFile(file, '{}')
    await expect(kubeconfigAccess(file)).rejects.toThrow('current-context is not set')
    await writeFile(file, 'just text')
    await expect(kubeconfigAccess(file)).rejects.toThrow('bad: the file: Invalid input')
  })
})
