import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { NodeRoute, Service } from '@spout/model'
import { issueCertificate } from '@spout/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { type LabMember, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { curl, sClient, shake } from '../../testing/haproxy/tls-client.ts'
import { tlsMember } from '../../testing/haproxy/tls-member.ts'

const { lab, host, started } = await proxyLabOfFile()
const authority = issueCertificate({ isAuthority: true })
const authorityFile = join(lab.certificateDirectory, 'authority.crt')
const PASSING = 'passing-443'
const ENDING = 'ending-443'

let inner: LabMember
let plain: Awaited<ReturnType<typeof headerMember>>

beforeAll(async () => {
  writeFileSync(authorityFile, authority.certificate)
  inner = await started(tlsMember('inner', issueCertificate({ issuer: authority, names: ['passed.example'] })))
  plain = await started(headerMember())
})

/** A member without TLS that keeps the headers of its last request. */
async function headerMember() {
  let seen: http.IncomingHttpHeaders = {}
  const server = http.createServer((request, response) => {
    seen = request.headers
    response.end('plain')
  })
  server.listen(0, MEMBER_ADDRESS)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { name: 'plain', port, seen: () => seen, close: () => void server.close() }
}

const on = (name: string, pool: number | null, compare: 'exact' | 'any-labels' = 'exact'): NodeRoute =>
  sampleRoute(pool ?? 9, { type: 'forward', pools: [{ pool, weight: 1 }] }, [
    { on: 'host', compare, values: [name], not: false },
  ])

function entryOf(passed: readonly NodeRoute[] | null, ending: Partial<Service> | null = {}) {
  const { certificate, key } = issueCertificate({ issuer: authority, names: ['ended.example', '*.w.example'] })
  const { id, contentId } = lab.storeCertificate(certificate + key)
  const passing = { protocol: 'tls-passthrough' as const, port: 443, pool: null }
  const tls = { certificates: [{ id, contentId }], unknownNames: 'refuse' as const, minVersion: '1.2' as const }
  return sampleEntry(
    'shared',
    [
      ...(passed === null
        ? []
        : [sampleService(PASSING, { ...passing, ...(passed.length > 0 && { routes: passed }) })]),
      ...(ending === null
        ? []
        : [
            sampleService(ENDING, {
              ...{ protocol: 'https', port: 443, pool: 2, tls: { ...tls, alpn: ['h2', 'http/1.1'] } },
              ...ending,
            }),
          ]),
    ],
    [samplePool(1, { mode: 'tcp-proxy', members: [memberAt(inner)] }), samplePool(2, { members: [memberAt(plain)] })],
  )
}

/** The names of the certificate that a client is shown, or the alert. */
async function shown(port: number, name: string | null): Promise<string> {
  const got = await shake({ host, port }, name)
  return 'alert' in got ? 'alert' : got.names.includes('passed.example') ? 'inner' : 'ended'
}

describe('listeners of one port, one of which passes TLS on and one ends it', () => {
  it('get connections by name: those of routes are passed on, all others are ended', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([on('passed.example', 1), on('w.example', 1, 'any-labels'), on('none.example', null)]))
    const to = { host, port: portOf(driver, PASSING) }
    for (const [name, expected] of [
      ['passed.example', 'inner'],
      ['x.w.example', 'inner'],
      ['ended.example', 'ended'],
      // The one that ends TLS refuses names that no certificate has.
      ['other.example', 'alert'],
      ['none.example', 'alert'],
    ] as const)
      expect(await shown(to.port, name), name).toBe(expected)
    expect(await curl(to, 'passed.example', authorityFile)).toEqual({ status: 200, version: '2' })
    expect(await curl(to, 'ended.example', authorityFile)).toEqual({ status: 200, version: '2' })
    expect(await curl(to, 'ended.example', authorityFile, '--http1.1')).toEqual({ status: 200, version: '1.1' })
    expect(await sClient(to, 'ended.example', '-CAfile', authorityFile)).toMatch(/Verify return code: 0 \(ok\)/)
    expect(await sClient(to, 'passed.example', '-CAfile', authorityFile)).toMatch(/Verify return code: 0 \(ok\)/)
  })

  it('tell the members behind the ended TLS who connects', async () => {
    const driver = lab.driver()
    await put(
      driver,
      entryOf([on('passed.example', 1)], {
        insertHeaders: ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'],
      }),
    )
    const port = portOf(driver, PASSING)
    const source = await lab.source(5)
    await curl({ host, port }, 'ended.example', authorityFile, '--interface', source)
    expect(plain.seen()).toMatchObject({
      'x-forwarded-for': source,
      'x-forwarded-port': String(port),
      'x-forwarded-proto': 'https',
    })
  })

  it('hand over TLS of anything but HTTP, too', async () => {
    const driver = lab.driver()
    const { tls } = entryOf([]).services[1]!
    const entry = entryOf([on('passed.example', 1)], {
      ...{ protocol: 'tls', pool: null, tls: { ...tls!, alpn: [] } },
      routes: [sampleRoute(3, { type: 'forward', pools: [{ pool: 3, weight: 1 }] }, [])],
    })
    await put(driver, {
      ...entry,
      pools: [...entry.pools, samplePool(3, { mode: 'tcp-proxy', members: [memberAt(plain)] })],
    })
    const to = { host, port: portOf(driver, PASSING) }
    expect(await curl(to, 'ended.example', authorityFile)).toEqual({ status: 200, version: '1.1' })
    expect(await shown(to.port, 'passed.example')).toBe('inner')
  })

  it('move a name from one to the other without a reload, and one may go', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([on('passed.example', 1)]))
    const { reloads } = driver.counters
    const port = portOf(driver, PASSING)
    expect(await shown(port, 'ended.example')).toBe('ended')
    await put(driver, entryOf([on('passed.example', 1), on('ended.example', 1)]))
    expect(await shown(port, 'ended.example')).toBe('inner')
    await put(driver, entryOf([]))
    expect(await shown(port, 'ended.example')).toBe('ended')
    await put(driver, entryOf([on('passed.example', 1)]))
    expect(await shown(port, 'passed.example')).toBe('inner')
    expect(driver.counters.reloads).toBe(reloads)
    await put(driver, entryOf([on('passed.example', 1)], null))
    expect(await shown(portOf(driver, PASSING), 'passed.example')).toBe('inner')
    expect(await shown(portOf(driver, PASSING), 'ended.example')).toBe('alert')
    await put(driver, entryOf(null))
    expect(await shown(portOf(driver, ENDING), 'ended.example')).toBe('ended')
  })

  it('come back as they were for the next agent', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([on('passed.example', 1)]))
    await driver.close()
    const next = lab.driver()
    await put(next, entryOf([on('passed.example', 1)]))
    expect(next.counters).toMatchObject({ reloads: 0 })
    expect(await shown(portOf(next, PASSING), 'ended.example')).toBe('ended')
    expect(await shown(portOf(next, PASSING), 'passed.example')).toBe('inner')
  })
})
