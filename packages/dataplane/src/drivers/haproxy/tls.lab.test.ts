import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import { join } from 'node:path'
import type { ServiceTls } from '@spout/model'
import { type Issued, issueCertificate, recordFault, waitFor } from '@spout/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleDomain,
  sampleEntry,
  samplePool,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { curl, sClient, shake } from '../../testing/haproxy/tls-client.ts'
import { StatsSocket } from './commands/stats-socket.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const authority = issueCertificate({ isAuthority: true })
const issued = (...names: readonly string[]): Issued => issueCertificate({ issuer: authority, names })
const authorityFile = join(lab.certificateDirectory, 'authority.crt')

let member: LabMember

beforeAll(async () => {
  member = await started(httpMember('a'))
  writeFileSync(authorityFile, authority.certificate)
})

function stored({ certificate, key }: Issued) {
  const { fingerprint256 } = new X509Certificate(certificate)
  return {
    ...lab.storeCertificate(certificate + key),
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}

type Stored = ReturnType<typeof stored>

const tlsEntry = (
  certificates: readonly Stored[],
  tls: Partial<ServiceTls> = {},
  { id = 'web', insertHeaders = [] }: Partial<Pick<ReturnType<typeof sampleService>, 'id' | 'insertHeaders'>> = {},
) =>
  sampleEntry(
    id,
    [
      sampleService(`${id}-443`, {
        protocol: 'https',
        port: 443,
        insertHeaders,
        tls: {
          certificates: certificates.map(({ id, contentId }) => ({ id, contentId })),
          ...{ unknownNames: 'default', minVersion: '1.2', alpn: ['h2', 'http/1.1'] },
          ...tls,
        },
      }),
    ],
    [samplePool(1, { members: [at(member)] })],
  )

const pid = async (): Promise<number> => (await processesOn(files.config))[0]!.pid

describe('a listener that ends TLS', () => {
  it('serves the certificate of the name, and the first one to those that name another or none', async () => {
    const driver = lab.driver()
    const [a, b] = [stored(issued('a.example')), stored(issued('b.example', '*.c.example'))]
    await put(driver, tlsEntry([a, b]))
    const to = { host, port: portOf(driver, 'web-443') }
    for (const [name, expected] of [
      ['a.example', a],
      ['b.example', b],
      ['x.c.example', b],
      ['x.y.c.example', a],
      ['other.example', a],
      [null, a],
    ] as const)
      expect(await shake(to, name), String(name)).toMatchObject({ fingerprint: expected.fingerprint })
    expect(await curl(to, 'b.example', authorityFile)).toEqual({ status: 200, version: '2' })
    expect(await sClient(to, 'b.example')).toMatch(/Verification|Verify return code/)
    expect(driver.counters.reloads).toBe(0)
  })

  it('refuses names that no certificate has, where it should', async () => {
    const driver = lab.driver()
    const [a, b] = [stored(issued('a.example')), stored(issued('b.example'))]
    await put(driver, tlsEntry([a, b], { unknownNames: 'refuse' }))
    const to = { host, port: portOf(driver, 'web-443') }
    expect(await shake(to, 'a.example')).toMatchObject({ fingerprint: a.fingerprint })
    expect(await shake(to, 'b.example')).toMatchObject({ fingerprint: b.fingerprint })
    expect(await sClient(to, 'other.example')).toMatch(/unrecognized name/)
    expect(await shake(to, null)).toHaveProperty('alert')
  })

  it('keeps two listeners apart that have certificates of one name', async () => {
    const driver = lab.driver()
    const [one, other] = [stored(issued('a.example')), stored(issued('a.example'))]
    await put(driver, tlsEntry([one], {}, { id: 'one' }))
    await put(driver, tlsEntry([other], {}, { id: 'other' }))
    for (const [service, { fingerprint }] of [
      ['one-443', one],
      ['other-443', other],
    ] as const)
      expect(await shake({ host, port: portOf(driver, service) }, 'a.example')).toMatchObject({ fingerprint })
  })

  it('speaks HTTP/2 and HTTP/1.1 as the client asks, and tells members that the client used TLS', async () => {
    const driver = lab.driver()
    await put(
      driver,
      tlsEntry(
        [stored(issued('a.example'))],
        {},
        { insertHeaders: ['x-forwarded-proto', 'x-forwarded-for', 'x-forwarded-port'] },
      ),
    )
    const to = { host, port: portOf(driver, 'web-443') }
    expect(await shake(to, 'a.example', { alpn: ['h2', 'http/1.1'] })).toMatchObject({ alpn: 'h2' })
    expect(await shake(to, 'a.example', { alpn: ['http/1.1'] })).toMatchObject({ alpn: 'http/1.1' })
    expect(await curl(to, 'a.example', authorityFile)).toEqual({ status: 200, version: '2' })
    expect(await curl(to, 'a.example', authorityFile, '--http1.1')).toEqual({ status: 200, version: '1.1' })
    const seen = await new Promise<Record<string, string>>((resolve, reject) => {
      const headers = { 'x-forwarded-proto': 'http', x_forwarded_proto: 'http' }
      https
        .get({ ...to, servername: 'a.example', rejectUnauthorized: false, headers }, (response) => {
          let body = ''
          response.on('data', (part) => {
            body += part
          })
          response.on('end', () => resolve(JSON.parse(body)))
        })
        .on('error', reject)
    })
    expect(seen).toMatchObject({ 'x-forwarded-proto': 'https' })
    expect(seen).not.toHaveProperty('x_forwarded_proto')
  })

  it('takes no version below the one that is set, and no cipher without forward secrecy', async () => {
    const driver = lab.driver()
    const a = stored(issued('a.example'))
    await put(driver, tlsEntry([a]))
    const usual = { host, port: portOf(driver, 'web-443') }
    expect(await shake(usual, 'a.example')).toMatchObject({ protocol: 'TLSv1.3' })
    expect(await shake(usual, 'a.example', { maxVersion: 'TLSv1.2' })).toMatchObject({ protocol: 'TLSv1.2' })
    expect(await shake(usual, 'a.example', { maxVersion: 'TLSv1.1' })).toHaveProperty('alert')
    await put(driver, tlsEntry([a], { minVersion: '1.3', alpn: ['http/1.1'] }))
    const strict = { host, port: portOf(driver, 'web-443') }
    expect(strict.port).toBe(usual.port)
    // The replaced process may accept a connection until it has heard of its end.
    await expect
      .poll(() => shake(strict, 'a.example', { alpn: ['h2', 'http/1.1'] }), { timeout: 20_000 })
      .toMatchObject({ protocol: 'TLSv1.3', alpn: 'http/1.1' })
    expect(await shake(strict, 'a.example', { maxVersion: 'TLSv1.2' })).toHaveProperty('alert')
  })

  it('fails alone when the node lacks its certificate', async () => {
    const driver = lab.driver()
    const a = stored(issued('a.example'))
    await put(driver, tlsEntry([a], {}, { id: 'good' }))
    const lost = { ...stored(issued('b.example')) }
    rmSync(join(lab.certificateDirectory, `${lost.contentId}.pem`))
    const [applied] = await driver.apply({ put: [sampleWanted(tlsEntry([lost], {}, { id: 'bad' }))], remove: [] })
    expect(applied).toMatchObject({ state: 'failed', message: expect.stringContaining('not on this node') })
    expect(await shake({ host, port: portOf(driver, 'good-443') }, 'a.example')).toMatchObject({
      fingerprint: a.fingerprint,
    })
  })
})

describe('a certificate that is replaced', () => {
  it('is served by the next handshake; open connections stay, no request fails, nothing is reloaded', async () => {
    const driver = lab.driver()
    const [a, b] = [stored(issued('a.example')), stored(issued('b.example'))]
    await put(driver, tlsEntry([a, b]))
    const to = { host, port: portOf(driver, 'web-443') }
    const open = http2.connect(`https://${host}:${to.port}`, { rejectUnauthorized: false, servername: 'a.example' })
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const stream = open.request({ ':path': '/', ':authority': 'a.example' })
        stream.on('response', (headers) => resolve(Number(headers[':status'])))
        stream.on('error', reject)
        stream.resume()
        stream.end()
      })
    expect(await ask()).toBe(200)

    // Four clients, each request on a new connection: every one is a handshake.
    const failures: unknown[] = []
    let [requests, stopping] = [0, false]
    const clients = Array.from({ length: 4 }, async (_, index) => {
      const name = index % 2 === 0 ? 'a.example' : 'b.example'
      while (!stopping) {
        const outcome = await new Promise<unknown>((resolve) => {
          https
            .get(
              { ...to, servername: name, headers: { host: name }, ca: authority.certificate, agent: false },
              (response) => {
                response.resume()
                response.on('end', () => resolve(response.statusCode))
              },
            )
            .on('error', resolve)
        })
        requests++
        if (outcome !== 200) failures.push(outcome)
      }
    })
    const delays: number[] = []
    let current: readonly Stored[] = [a, b]
    for (let turn = 0; turn < 50; turn++) {
      const name = turn % 2 === 0 ? 'a.example' : 'b.example'
      const fresh = stored(issued(name))
      const next = current.with(turn % 2, fresh)
      const began = performance.now()
      await put(driver, tlsEntry(next))
      delays.push(performance.now() - began)
      expect(await shake(to, name), `turn ${turn}`).toMatchObject({ fingerprint: fresh.fingerprint })
      current = next
    }
    stopping = true
    await Promise.all(clients)
    expect(failures).toEqual([])
    expect(requests).toBeGreaterThan(50)
    expect(await ask()).toBe(200)
    open.destroy()
    expect(driver.counters.reloads).toBe(0)
    const median = delays.toSorted((x, y) => x - y)[25]!
    recordFault({
      fault: 'proxy: 50 certificates are replaced under handshakes',
      outcome: 'each is served by the next handshake; no request fails, an open HTTP/2 connection stays, no reload',
      figure: `0 of ${requests} requests fail, ${median.toFixed(1)} ms each (median)`,
    })
  })

  it('leaves the process with the listener, and from another process its files', async () => {
    const driver = lab.driver()
    const [a, b, c] = [stored(issued('a.example')), stored(issued('b.example')), stored(issued('c.example'))]
    await put(driver, tlsEntry([a, b]))
    await put(driver, tlsEntry([a, c]))
    expect(await driver.observe()).toEqual([])
    await driver.apply({ put: [], remove: [tlsEntry([a]).key] })
    const held = await shown('show ssl cert')
    for (const { contentId } of [a, b, c]) expect(held).not.toContain(contentId)
    expect(readdirSync(files.directory).filter((name) => /^f\d+\.pem$/.test(name))).toEqual([])
  })
})

describe('what outlives', () => {
  it('an agent: the next one takes the certificates over and changes nothing', async () => {
    const first = lab.driver()
    const [a, b] = [stored(issued('a.example')), stored(issued('b.example'))]
    const entry = tlsEntry([a, b])
    await put(first, entry)
    await first.close()
    const second = lab.driver()
    await second.adopt([sampleWanted(entry)])
    await put(second, entry)
    expect(second.counters).toEqual({ transactions: 0, reloads: 0 })
    expect(await second.observe()).toEqual([])
    const fresh = stored(issued('a.example'))
    await put(second, tlsEntry([fresh, b]))
    expect(await shake({ host, port: portOf(second, 'web-443') }, 'a.example')).toMatchObject({
      fingerprint: fresh.fingerprint,
    })
  })

  it('the process: it is started again with them, without the agent being told anew', async () => {
    const driver = lab.driver()
    const [a, b] = [stored(issued('a.example')), stored(issued('b.example'))]
    await put(driver, tlsEntry([a, b]))
    const to = { host, port: portOf(driver, 'web-443') }
    const before = await pid()
    process.kill(before, 'SIGKILL')
    await waitFor(
      async () => {
        const [now] = await processesOn(files.config)
        return now !== undefined && now.pid !== before && 'fingerprint' in (await shake(to, 'a.example'))
      },
      { what: 'the proxy to be back' },
    )
    expect(await shake(to, 'a.example')).toMatchObject({ fingerprint: a.fingerprint })
    expect(await shake(to, 'b.example')).toMatchObject({ fingerprint: b.fingerprint })
    expect(await driver.observe()).toEqual([])
  })
})

it('a key is in no configuration, list, map, state or argument of the process, and its files are for root alone', async () => {
  const driver = lab.driver()
  const canary = issued('canary.example')
  const marks = canary.key.split('\n').filter((line) => line.length === 64)
  await put(driver, tlsEntry([stored(canary), stored(issued('b.example'))]))
  const argv =
    readFileSync(`/proc/${await pid()}/cmdline`, 'latin1') + readFileSync(`/proc/${await pid()}/environ`, 'latin1')
  const written = readdirSync(files.directory, { withFileTypes: true }).filter((entry) => entry.isFile())
  expect(written.length).toBeGreaterThan(3)
  for (const mark of marks) {
    expect(argv).not.toContain(mark)
    for (const { name } of written)
      expect(readFileSync(join(files.directory, name), 'latin1'), name).not.toContain(mark)
  }
  expect(statSync(files.directory).mode & 0o777).toBe(0o700)
  expect(existsSync(files.tls.placeholder)).toBe(true)
  expect(statSync(files.tls.placeholder).mode & 0o777).toBe(0o600)
  expect(JSON.stringify(driver.render(sampleWanted(tlsEntry([stored(canary)]), [], sampleDomain())))).not.toContain(
    'PRIVATE',
  )
})

/** A command to the process that runs. */
async function shown(command: string): Promise<string> {
  const { generation } = JSON.parse(readFileSync(files.state, 'utf8')) as { generation: number }
  const socket = await StatsSocket.connect(files.statsSocket(generation), () => {})
  const [text = ''] = await socket.execute([`${command}\n`])
  socket.close()
  return text
}
