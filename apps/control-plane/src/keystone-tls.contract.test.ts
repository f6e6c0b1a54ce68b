import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { createServer, type Server } from 'node:tls'
import { run } from '@spout/testkit'
import { KeystoneServer, LONGEST_KEYSTONE_START_MS } from '@spout/testkit/keystone-server'
import { type Issued, issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess, programWith } from './testing/control-plane-process.ts'

// Debian's Keystone behind TLS. As in real clouds, its certificate is from the cloud's own authority.
const PASSWORD = 'a-password-for-tests'

let keystone: KeystoneServer
let directory: string
let authority: Issued
let front: Server
/** Names of the servers that clients asked for. */
const asked: string[] = []
const open: (Server | ControlPlaneProcess)[] = []

/** TLS in front of Keystone. @returns its URL under that name */
async function frontWith({ certificate, key }: Issued): Promise<Server> {
  const server = createServer({ cert: certificate, key }, (client) => {
    asked.push(String(client.servername))
    const inside = connect(Number(new URL(keystone.url).port), '127.0.0.1')
    pipeline(client, inside, () => {})
    pipeline(inside, client, () => {})
  })
  // A client that does not trust it ends the handshake.
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return server
}

const urlOf = (server: Server): string => `https://localhost:${(server.address() as AddressInfo).port}/v3`
const file = (name: string, text: string): string => {
  writeFileSync(path.join(directory, name), text)
  return path.join(directory, name)
}
const settings = (server: Server, caFile: string): readonly string[] => [
  `admin.password=${PASSWORD}`,
  'octavia.noop=true',
  ...[`keystone.url=${urlOf(server)}`, `keystone.caFile=${caFile}`],
  ...['keystone.user=admin', `keystone.password=${keystone.adminPassword}`, 'keystone.project=admin'],
  'keystone.timeoutMs=60000',
]

/** The answer of a Spout with these settings to a token of Keystone. */
async function answerOf(server: Server, caFile: string): Promise<{ readonly status: number; readonly text: string }> {
  const controlPlane = await ControlPlaneProcess.start(settings(server, caFile))
  open.push(controlPlane)
  const answer = await fetch(`${controlPlane.address}/load-balancer/v2/lbaas/loadbalancers`, {
    headers: { 'x-auth-token': await login() },
  })
  return { status: answer.status, text: await answer.text() }
}

/** A login of a client that trusts the authority, through the front. @returns the token */
async function login(): Promise<string> {
  const user = { name: 'admin', domain: { id: 'default' }, password: keystone.adminPassword }
  const scope = { project: { name: 'admin', domain: { id: 'default' } } }
  const body = JSON.stringify({ auth: { identity: { methods: ['password'], password: { user } }, scope } })
  const request = https.request(`${urlOf(front)}/auth/tokens`, {
    ...{ method: 'POST', ca: authority.certificate, agent: false },
    headers: { 'content-type': 'application/json' },
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  response.resume()
  expect(response.statusCode).toBe(201)
  return String(response.headers['x-subject-token'])
}

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-keystone-tls-'))
  keystone = await KeystoneServer.start()
  authority = issueCertificate({ isAuthority: true })
  front = await frontWith(issueCertificate({ names: ['localhost'], issuer: authority }))
}, LONGEST_KEYSTONE_START_MS)
afterAll(async () => {
  for (const each of open)
    if (each instanceof ControlPlaneProcess) await each[Symbol.asyncDispose]()
    else each.close()
  await keystone?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

test('a token counts when keystone.caFile has the authority of the certificate of Keystone, among others', async () => {
  const other = issueCertificate({ isAuthority: true })
  const both = file('both.pem', `${other.certificate}${authority.certificate}`)
  asked.length = 0
  expect(await answerOf(front, both)).toMatchObject({
    status: 200,
    text: expect.stringContaining('"loadbalancers":[]'),
  })
  // The login of the test, then those of Spout: by the name in the URL.
  expect(asked.length).toBeGreaterThan(1)
  expect(new Set(asked)).toEqual(new Set(['localhost']))
}, 120_000)

test.each<[string, () => Promise<readonly [Server, string]>, RegExp]>([
  [
    'an authority that is not in keystone.caFile',
    async () => [front, file('other.pem', issueCertificate({ isAuthority: true }).certificate)],
    /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER/,
  ],
  [
    'an authority that the system does not know',
    async () => [front, ''],
    /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER/,
  ],
  [
    'the right authority for another name',
    async () => [
      await frontWith(issueCertificate({ names: ['keystone.example'], issuer: authority })),
      file('right.pem', authority.certificate),
    ],
    /ERR_TLS_CERT_ALTNAME_INVALID/,
  ],
])(
  'no token counts when the certificate is of %s, and the reason is said',
  async (_, given, reason) => {
    const { status, text } = await answerOf(...(await given()))
    expect({ status, text }).toMatchObject({
      status: 503,
      text: expect.stringContaining('Keystone is not available: '),
    })
    expect(text).toMatch(reason)
  },
  120_000,
)

test.each<[string, () => string, RegExp]>([
  [
    'is not there',
    () => path.join(directory, 'nowhere.pem'),
    /^spout-control-plane: Field keystone\.caFile: cannot be read: ENOENT\n$/,
  ],
  [
    'has no certificate',
    () => file('key.pem', authority.key),
    /^spout-control-plane: Field keystone\.caFile: has no certificate in PEM\n$/,
  ],
])(
  'a file that %s ends the start with the reason',
  async (_, caFile, words) => {
    const argv = programWith([`stateDirectory=${path.join(directory, 'state')}`, ...settings(front, caFile())])
    const { code, stderr } = await run([process.execPath, ...argv], { timeoutMs: 60_000 })
    expect(code).toBe(2)
    expect(stderr).toMatch(words)
  },
  120_000,
)
