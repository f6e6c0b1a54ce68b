import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PRODUCT_ENVIRONMENT, recordFault, run, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess, programWith } from './testing/control-plane-process.ts'

// OpenSSL issues certificates of the operator's own authority, and curl checks what the API shows.

let directory: string
let controlPlane: ControlPlaneProcess
let port: number

const at = (name: string): string => path.join(directory, name)
const openssl = async (...args: readonly string[]): Promise<void> => {
  const { code, stderr } = await run(['openssl', ...args])
  if (code !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
}
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const

async function makeAuthority(name: string, issuer: string | null): Promise<void> {
  const signed = issuer === null ? [] : ['-CA', at(`${issuer}.crt`), '-CAkey', at(`${issuer}.key`)]
  await openssl(
    ...['req', '-x509', ...NEW_KEY, '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`), ...signed],
    ...['-subj', `/CN=${name}`, '-days', '30'],
    ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'],
  )
}

/** `<name>.crt` with the chain to the authority, and `<name>.key`. */
async function issue(name: string, names = 'DNS:localhost', newKey: readonly string[] = NEW_KEY): Promise<void> {
  await openssl(
    ...['req', '-x509', ...newKey, '-days', '20', '-keyout', at(`${name}.key`), '-out', at(`${name}.leaf`)],
    ...['-subj', `/CN=${name}`, '-CA', at('middle.crt'), '-CAkey', at('middle.key')],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...(names === '' ? [] : ['-addext', `subjectAltName=${names}`]),
  )
  writeFileSync(at(`${name}.crt`), readFileSync(at(`${name}.leaf`), 'utf8') + readFileSync(at('middle.crt'), 'utf8'))
}

/** Installs a pair at the paths of the settings. */
function place(certificate: string, key: string): void {
  copyFileSync(at(certificate), at('api.crt'))
  copyFileSync(at(key), at('api.key'))
}

/** Pairs that cannot be used, and why. */
const BROKEN = [
  ['second.crt', 'first.key', /^Field api\.keyFile: is not the key of the first certificate$/],
  ['torn.crt', 'second.key', /^Field api\.certificateFile: has no certificate in PEM$/],
  ['second.crt', 'second.crt', /^Field api\.keyFile: is not a private key in PEM/],
  ['backwards.crt', 'second.key', /^Field api\.certificateFile: certificate 2 did not issue certificate 1/],
  ['nameless.crt', 'nameless.key', /^Field api\.certificateFile: names no host/],
  ['weak.crt', 'weak.key', /^Field api\.certificateFile: needs a key of EC or Ed25519, or of RSA with 2048 bits/],
] as const

const settings = (): readonly string[] => [
  'api.tls=true',
  `api.certificateFile=${at('api.crt')}`,
  `api.keyFile=${at('api.key')}`,
]
const lines = (event: string) => controlPlane.lines(event)

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-api-certificate-'))
  await makeAuthority('root', null)
  await makeAuthority('middle', 'root')
  await issue('first')
  await issue('second')
  await issue('nameless', '')
  await issue('weak', 'DNS:localhost', ['-newkey', 'rsa:1024', '-nodes'])
  writeFileSync(at('torn.crt'), readFileSync(at('second.crt'), 'utf8').slice(0, 300))
  writeFileSync(at('backwards.crt'), readFileSync(at('middle.crt'), 'utf8') + readFileSync(at('second.leaf'), 'utf8'))
  place('first.crt', 'first.key')
  controlPlane = await ControlPlaneProcess.start(settings())
  port = controlPlane.port
}, 90_000)

afterAll(async () => {
  await controlPlane?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** The common name of the certificate that a handshake shows, to a client that knows the root alone. */
async function shown(): Promise<string> {
  const { stdout } = await run(
    [
      ...[
        'openssl',
        's_client',
        '-connect',
        `127.0.0.1:${port}`,
        '-servername',
        'localhost',
        '-CAfile',
        at('root.crt'),
      ],
      ...['-verify_return_error', '-verify_hostname', 'localhost'],
    ],
    { input: '' },
  )
  expect(stdout).toContain('Verify return code: 0 (ok)')
  return /^subject=CN ?= ?(.*)$/m.exec(stdout)?.[1] ?? ''
}

const figure = async (name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${controlPlane.statusPort}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

describe('the API with a certificate of the operator', () => {
  test("clients verify it with the operator's authority, and the chain is sent", async () => {
    expect(await shown()).toBe('first')
    const url = `https://localhost:${port}/healthz`
    expect((await run(['curl', '-sf', '--cacert', at('root.crt'), url])).stdout).toBe('{"status":"ok"}')
    const own = path.join(controlPlane.stateDirectory, 'agent-link/ca.crt')
    expect((await run(['curl', '-sf', '--cacert', own, url])).code).toBe(60)
  })

  test('unusable files are refused with field and reason, and the previous certificate stays in force', async () => {
    // Each waits for two looks at the files. The other reasons are told at a start.
    for (const [certificate, key, reason] of BROKEN.slice(0, 2)) {
      const before = lines('certificate-refused').length
      place(certificate, key)
      const refused = await waitFor(() => lines('certificate-refused')[before] ?? false, {
        what: `${certificate} to be refused`,
        timeoutMs: 30_000,
      })
      expect(refused['reason']).toMatch(reason)
      expect(refused['expiresAt']).toBe(lines('certificate-in-force').at(-1)?.['expiresAt'])
      expect(await shown()).toBe('first')
    }
    expect(await figure('spout_api_certificate_refused')).toBe(1)
    expect(lines('certificate-refused')).toHaveLength(2)
    recordFault({
      fault: 'API: a certificate that cannot be used is put in place',
      outcome: 'refused with setting and reason; the one before stays in force',
      figure: '2 of 2 refused',
    })
  }, 180_000)

  test('a new certificate is used for the next handshake, and an open connection stays', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(at('root.crt')) })
    const ask = () =>
      new Promise<{ readonly status: number; readonly port: number }>((resolve, reject) => {
        request({ host: 'localhost', port, path: '/healthz', agent }, (response) => {
          const { localPort = 0 } = response.socket
          response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, port: localPort }))
        })
          .on('error', reject)
          .end()
      })
    const before = await ask()
    place('second.crt', 'second.key')
    await waitFor(async () => (await shown()) === 'second', { what: 'the second certificate', timeoutMs: 30_000 })
    expect(await ask()).toEqual({ status: 200, port: before.port })
    agent.destroy()
    expect(await figure('spout_api_certificate_refused')).toBe(0)
    const said = lines('certificate-in-force').at(-1)
    expect(said).toMatchObject({ names: 'DNS:localhost' })
    expect(await figure('spout_api_certificate_expiry_timestamp_seconds')).toBe(
      Date.parse(String(said?.['expiresAt'])) / 1000,
    )
  }, 60_000)

  test('an Ed25519 key serves clients of TLS 1.3 and of 1.2', async () => {
    await issue('edwards', 'DNS:localhost', ['-newkey', 'ed25519', '-nodes'])
    place('edwards.crt', 'edwards.key')
    await waitFor(async () => (await shown()) === 'edwards', { what: 'the certificate', timeoutMs: 30_000 })
    const curl = ['curl', '-sf', '--cacert', at('root.crt'), `https://localhost:${port}/healthz`]
    for (const version of [['--tlsv1.3'], ['--tlsv1.2', '--tls-max', '1.2']])
      expect((await run([...curl, ...version])).stdout).toBe('{"status":"ok"}')
  }, 60_000)

  test.each(BROKEN)(
    'a start with %s and %s ends with the setting and the reason',
    async (certificate, key, reason) => {
      place(certificate, key)
      const argv = programWith([`stateDirectory=${controlPlane.stateDirectory}`, ...settings()])
      const { code, stderr } = await run([process.execPath, ...argv], { env: PRODUCT_ENVIRONMENT })
      const [, said = ''] = /^spout-control-plane: (.*)\n$/.exec(stderr) ?? []
      expect([code, said], stderr).toEqual([2, expect.stringMatching(reason)])
    },
    60_000,
  )
})
