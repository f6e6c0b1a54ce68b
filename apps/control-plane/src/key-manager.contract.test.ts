import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { OpenStackProgram, run, TypedPage } from '@spout/testkit'
import { type Issued, issueCertificate, revocationList } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

/**
 * Unmodified clients, `openstack` with Debian's python-barbicanclient and python-octaviaclient, keep certificates in
 * the key manager and name them in load balancers, as Octavia's guide to TLS says.
 */

const PASSWORD = 'a-password-for-tests'

let controlPlane: ControlPlaneProcess
let program: OpenStackProgram
let directory: string
let loadBalancer: string
let publicPool: string

const root = issueCertificate({ isAuthority: true })
const leaf = issueCertificate({ names: ['shop.example'], issuer: root })
const other = issueCertificate({ names: ['other.example'], issuer: root })
const keyLine = ({ key }: Issued): string => key.split('\n')[1] ?? ''

const file = (name: string): string => path.join(directory, name)
const put = (name: string, content: string): string => {
  writeFileSync(file(name), content)
  return file(name)
}
/** A PKCS#12 bundle. @param more arguments, such as a passphrase */
function bundleOf({ certificate, key }: Issued, ...more: readonly string[]): Buffer {
  const [crt, pem, ca] = [put('crt', certificate), put('key', key), put('ca', root.certificate)]
  const passphrase = more.includes('-passout') ? [] : ['-passout', 'pass:']
  const args = [
    'pkcs12',
    '-export',
    '-in',
    crt,
    '-inkey',
    pem,
    '-certfile',
    ca,
    '-out',
    file('p12'),
    ...passphrase,
    ...more,
  ]
  execFileSync('openssl', args, { stdio: 'pipe' })
  return readFileSync(file('p12'))
}

const environment = () => ({
  ...{ OS_AUTH_URL: `${controlPlane.address}/identity`, OS_USERNAME: 'admin', OS_PASSWORD: PASSWORD },
  ...{ OS_PROJECT_NAME: 'admin', OS_USER_DOMAIN_NAME: 'Default', OS_PROJECT_DOMAIN_NAME: 'Default' },
  OS_IDENTITY_API_VERSION: '3',
})
const openstack = (...argv: readonly string[]) => program.run(argv, { env: environment() })
async function output(...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await openstack(...argv)
  if (code !== 0) throw new Error(`openstack ${argv.join(' ')}: ${stderr}`)
  return stdout.trim()
}
/** The fields that the command line prints for an object, by their printed names. */
const shown = async (...argv: readonly string[]) => JSON.parse(await output(...argv, '-f', 'json'))
const stored = async (...argv: readonly string[]): Promise<string> =>
  (await shown('secret', 'store', ...argv))['Secret href']
const storedPem = (name: string, pem: string) => stored('--name', name, '-t', 'text/plain', '--payload', pem.trim())
const storedBundle = (name: string, bytes: Buffer) =>
  stored(...['--name', name, '-t', 'application/octet-stream', '-e', 'base64', '--payload', bytes.toString('base64')])

let port = 1000
const listener = (...argv: readonly string[]) =>
  openstack(
    ...['loadbalancer', 'listener', 'create', '--protocol', 'TERMINATED_HTTPS', '--protocol-port', String(port++)],
    ...[...argv, '-f', 'json', loadBalancer],
  )
const madeListener = async (...argv: readonly string[]) => {
  const { code, stdout, stderr } = await listener(...argv)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

async function native(url: string, body?: object) {
  const login = await fetch(`${controlPlane.address}/api/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userName: 'admin', password: PASSWORD, projectName: 'admin' }),
  })
  const { token } = (await login.json()) as { token: string }
  const answer = await fetch(`${controlPlane.address}/api/v1${url}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
  return (await answer.json()) as any
}

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-key-manager-'))
  controlPlane = await ControlPlaneProcess.start([
    `admin.password=${PASSWORD}`,
    'store.engine=sqlite',
    'api.settleMs=0',
  ])
  program = new OpenStackProgram()
  const pool = { name: 'public', cidr: '192.0.2.0/24', ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }] }
  const { id } = await native('/address-pools', pool)
  publicPool = id
  loadBalancer = (await shown('loadbalancer', 'create', '--name', 'web', '--vip-network-id', id)).id
}, 120_000)
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
  await controlPlane?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

describe('openstack secret', () => {
  test('stores, lists, gets and deletes secrets', async () => {
    const ref = await stored(
      '--name',
      'word',
      '--secret-type',
      'passphrase',
      '-t',
      'text/plain',
      '--payload',
      'open sesame',
    )
    expect(ref).toMatch(new RegExp(`^${controlPlane.address}/key-manager/v1/secrets/[0-9a-f-]{36}$`))
    expect(await shown('secret', 'get', ref)).toMatchObject({
      ...{ Name: 'word', Status: 'ACTIVE', 'Secret type': 'passphrase', 'Content types': { default: 'text/plain' } },
    })
    expect(await shown('secret', 'get', '--payload', ref)).toMatchObject({ Payload: 'open sesame' })
    expect(await shown('secret', 'list', '--name', 'word')).toMatchObject([{ 'Secret href': ref, Name: 'word' }])
    await output('secret', 'delete', ref)
    const { code, stderr } = await openstack('secret', 'get', ref)
    expect(code).not.toBe(0)
    expect(stderr).toContain('Secret not found.')
  })

  test('gives a secret its payload in a second step', async () => {
    const ref = await stored('--name', 'later')
    await output('secret', 'update', ref, 'here it is')
    expect(await shown('secret', 'get', '--payload', ref)).toMatchObject({ Payload: 'here it is' })
  })
})

describe('a listener', () => {
  test('is made by the commands of docs/key-manager.md', async () => {
    await output('loadbalancer', 'create', '--name', 'shop', '--vip-network-id', publicPool)
    const pool = ['--name', 'web', '--protocol', 'HTTP', '--lb-algorithm', 'ROUND_ROBIN', '--loadbalancer', 'shop']
    await output('loadbalancer', 'pool', 'create', ...pool)
    put('shop.crt', leaf.certificate)
    put('shop.key', leaf.key)
    put('ca.crt', root.certificate)
    // One shell types them all: the second sets a variable for the third.
    const page = new TypedPage('key-manager.md', () => Promise.reject(new Error('typed alone')))
    const commands = ['openssl pkcs12', 'REF=', 'openstack loadbalancer'].map((one) => page.take(one).command)
    expect(page.left).toEqual([])
    const env = { ...environment(), HOME: directory, PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', no_proxy: '*' }
    const typed = await run(['bash', '-ec', `cd '${directory}'\n${commands.join('\n')}`], { env })
    expect(typed.code, typed.stderr).toBe(0)
    const made = await shown('loadbalancer', 'listener', 'show', 'secure')
    expect(made).toMatchObject({ protocol: 'TERMINATED_HTTPS', protocol_port: 443 })
    const { items } = await native('/certificates')
    const stores = items.find(({ name }: { name: string }) => name === 'shop')
    expect(made.default_tls_container_ref).toContain(stores.id)
  })

  test.each<[string, readonly string[]]>([
    ['', []],
    [' with the ciphers of OpenSSL 1.1', ['-legacy']],
    [' that is not encrypted', ['-keypbe', 'NONE', '-certpbe', 'NONE']],
  ])('names a PKCS#12 bundle%s, and shows the reference as it was given', async (_, more) => {
    const ref = await storedBundle('bundle', bundleOf(leaf, ...more))
    expect(await madeListener('--default-tls-container-ref', ref)).toMatchObject({ default_tls_container_ref: ref })
    const { items } = await native('/certificates')
    const made = items.find(({ id }: { id: string }) => ref.endsWith(id))
    expect(made).toMatchObject({ name: 'bundle', names: ['shop.example'], use: 'keyed' })
    expect(JSON.stringify(items)).not.toContain(keyLine(leaf))
  })

  test('names a container of a certificate, with a key under a passphrase, and others by SNI', async () => {
    const encrypted = execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:sesame'], { input: leaf.key })
    const secrets = {
      certificate: await storedPem('crt', leaf.certificate),
      private_key: await storedPem('key', encrypted.toString()),
      private_key_passphrase: await storedPem('word', 'sesame'),
      intermediates: await storedPem('ca', root.certificate),
    }
    const named = Object.entries(secrets).flatMap(([name, ref]) => ['--secret', `${name}=${ref}`])
    const container = await shown('secret', 'container', 'create', '--name', 'tls', '--type', 'certificate', ...named)
    const ref = container['Container href']
    expect(ref).toContain('/key-manager/v1/containers/')
    const sni = await storedPem('pem', `${other.key}${other.certificate}`)
    const made = await madeListener('--default-tls-container-ref', ref, '--sni-container-refs', sni)
    expect(made).toMatchObject({ default_tls_container_ref: ref, sni_container_refs: [sni] })
    expect((await native('/certificates')).items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'tls', names: ['shop.example'] }),
        expect.objectContaining({ name: 'pem', names: ['other.example'] }),
      ]),
    )
    const { code, stderr } = await openstack('secret', 'container', 'delete', ref)
    expect(code).not.toBe(0)
    expect(stderr).toContain('is in use by listener')
    await output('loadbalancer', 'listener', 'delete', made.id)
    await output('secret', 'container', 'delete', ref)
    expect(JSON.stringify(await native('/certificates'))).not.toContain('"tls"')
  })

  test('names authorities and lists of revoked ones that clients are checked with, and a pool those of its members', async () => {
    const authorities = await storedPem('authorities', root.certificate)
    const bundle = await storedBundle('with clients', bundleOf(leaf))
    const revoked = await storedPem('revoked', revocationList(root))
    const refs = ['--default-tls-container-ref', bundle, '--client-ca-tls-container-ref', authorities]
    const lists = ['--client-crl-container-ref', revoked]
    expect(await madeListener(...refs, ...lists, '--client-authentication', 'MANDATORY')).toMatchObject({
      ...{ client_authentication: 'MANDATORY', client_ca_tls_container_ref: authorities },
      ...{ client_crl_container_ref: revoked },
    })
    expect((await native('/certificates')).items).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'revoked', use: 'revocations' })]),
    )
    const pool = ['--protocol', 'HTTPS', '--lb-algorithm', 'ROUND_ROBIN', '--loadbalancer', loadBalancer]
    const trust = ['--ca-tls-container-ref', authorities, '--crl-container-ref', revoked]
    const tls = ['--enable-tls', ...trust, '--tls-container-ref', bundle]
    expect(await shown('loadbalancer', 'pool', 'create', ...pool, ...tls)).toMatchObject({
      ...{ ca_tls_container_ref: authorities, tls_container_ref: bundle },
    })
  })

  test('names a certificate of ours, as before', async () => {
    const { id } = await native('/certificates', { name: 'ours', chain: other.certificate, key: other.key })
    expect(await madeListener('--default-tls-container-ref', id)).toMatchObject({ default_tls_container_ref: id })
  })

  const NOBODY = '11111111-2222-4333-8444-555555555555'
  test('is refused with a reference to nothing', async () => {
    const ref = `${controlPlane.address}/key-manager/v1/secrets/${NOBODY}`
    const { code, stderr } = await listener('--default-tls-container-ref', ref)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`Could not retrieve certificate: ['${ref}']`)
  })

  test.each<[string, () => Promise<string>, string]>([
    [
      'a bundle with a passphrase',
      () => storedBundle('locked', bundleOf(leaf, '-passout', 'pass:sesame')),
      'The PKCS12 bundle is unreadable.',
    ],
    [
      'bytes of anything',
      () => storedBundle('junk', Buffer.from([0x30, 0x82, 1, 2, 3])),
      'The PKCS12 bundle is unreadable.',
    ],
    ['text of anything', () => storedPem('poem', 'roses are red'), 'The PKCS12 bundle is unreadable.'],
    ['a secret without a payload', () => stored('--name', 'empty'), 'has not been uploaded yet'],
    [
      'the key of another certificate',
      () => storedPem('mixed', `${other.key}${leaf.certificate}`),
      'Could not retrieve certificate: ',
    ],
    ['authorities without a key', () => storedPem('ca', root.certificate), 'names a certificate without a private key'],
  ])('is refused with %s', async (_, secret, why) => {
    const { code, stderr } = await listener('--default-tls-container-ref', await secret())
    expect(code).not.toBe(0)
    expect(stderr).toContain(why)
    for (const key of [keyLine(leaf), keyLine(other)]) expect(stderr).not.toContain(key)
  })
})

test('no private key is in a file of the control plane', () => {
  const secrets = [leaf, other].map(keyLine)
  const files = readdirSync(controlPlane.stateDirectory, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(controlPlane.stateDirectory, name))
    .filter((name) => statSync(name).isFile())
  expect(files.some((name) => name.endsWith('.db') || name.includes('sqlite'))).toBe(true)
  for (const name of files) {
    const text = readFileSync(name, 'latin1')
    for (const secret of [...secrets, ...secrets.map((one) => Buffer.from(one).toString('base64').slice(4, -4))])
      expect(text.includes(secret), name).toBe(false)
  }
})
