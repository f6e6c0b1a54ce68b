import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CarriedRequest, SyslogReceiver } from '@spout/dataplane'
import { ACCESS_LOG_FIELDS } from '@spout/model/access-log-format'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lineOf } from './access-line.ts'
import { AccessLogs } from './access-logs.ts'
import { loadBalancerEntry } from './testing/entries.ts'

const REQUEST: CarriedRequest = {
  ...{
    listenerId: 'web',
    pool: 1,
    routeId: null,
    endedAtUs: 1_700_000_000_123_456,
    durationUs: 500,
    waitedMs: 0,
    status: 200,
  },
  ...{ bytesIn: 70, bytesOut: 140, client: { address: '192.0.2.1', port: 5 }, vip: { address: '192.0.2.2', port: 80 } },
  ...{ member: { address: '10.0.0.1', port: 8080 }, ending: '--', tlsVersion: null, serverName: null },
  http: { method: 'GET', uri: '/a?b', version: '1.1', host: 'h', userAgent: 'curl/8', referer: null },
}
const saying = (http: Partial<NonNullable<CarriedRequest['http']>>): CarriedRequest => ({
  ...REQUEST,
  http: { ...REQUEST.http!, ...http },
})
const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }).map((all) => String.fromCharCode(...all))

describe('a line', () => {
  test('is of the format that the listener says', () => {
    expect(lineOf('{client} {method} {uri} {pool} "{referer}" {{{status}}}')(REQUEST, 'pool-1')).toBe(
      '192.0.2.1 GET /a?b pool-1 "-" {200}',
    )
    expect(lineOf('combined')(REQUEST, null)).toBe(
      '192.0.2.1 - - [2023-11-14T22:13:20.123Z] "GET /a?b HTTP/1.1" 200 140 "-" "curl/8"',
    )
    expect(JSON.parse(lineOf('json')(REQUEST, 'pool-1'))).toMatchObject({
      ...{
        listener: 'web',
        client: '192.0.2.1',
        status: 200,
        'duration-us': 500,
        pool: 'pool-1',
        'user-agent': 'curl/8',
      },
    })
  })

  test('is one line of printable ASCII, whatever the client sent, and reads back', () => {
    const all = ACCESS_LOG_FIELDS.map((field) => `"{${field}}"`).join(' ')
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (uri, host, userAgent, serverName) => {
        const hostile = { ...saying({ uri, host, userAgent }), serverName }
        for (const format of ['json', 'combined', all]) expect(lineOf(format)(hostile, null)).toMatch(/^[ -~]+$/)
        expect(JSON.parse(lineOf('json')(hostile, null))).toMatchObject({ uri, host, 'user-agent': userAgent })
        // No text of a client ends a quoted field.
        expect(
          lineOf(all)(hostile, null)
            .replace(/\\x[0-9A-F]{2}/g, '')
            .split('"'),
        ).toHaveLength(2 * ACCESS_LOG_FIELDS.length + 1)
      }),
    )
    expect(lineOf('{uri}')(saying({ uri: '/\n{host}\u001b[2J"\\\u009b' }), null)).toBe(
      '/\\x0A{host}\\x1B[2J\\x22\\x5C\\x9B',
    )
  })
})

const PROJECTS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const
const [service] = loadBalancerEntry('lb').services
const [pool] = loadBalancerEntry('lb').pools
const entryOf = (name: string, projectId: string | null, format = '{uri} {pool}') =>
  loadBalancerEntry(name, {
    services: [{ ...service!, id: `${name}-web`, ...(projectId === null ? {} : { accessLog: { format, projectId } }) }],
    pools: [{ ...pool!, id: `${name}-pool`, number: 1 }],
  })

async function logging() {
  const directory = await mkdtemp(join(tmpdir(), 'spout-logs-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const logs = new AccessLogs({ files: { directory, mostBytes: 10_000, files: 2 }, syslog: null })
  const took = (name: string, uri: string) => logs.take({ ...saying({ uri }), listenerId: `${name}-web` })
  const read = (project: string) => readFile(join(directory, `${project}.log`), 'latin1')
  return { directory, logs, took, read }
}

describe('access logs', () => {
  test('are files of their projects; who wants none has none', async () => {
    const { directory, logs, took, read } = await logging()
    logs.applied('a', entryOf('a', PROJECTS[0]))
    logs.applied('b', entryOf('b', PROJECTS[1]))
    logs.applied('c', entryOf('c', null))
    for (const name of ['a', 'b', 'c', 'unknown']) took(name, `/${name}`)
    logs.applied('a', entryOf('a', PROJECTS[0], '{method} {uri}'))
    took('a', '/again')
    logs.applied('b', entryOf('b', null))
    took('b', '/again')
    await logs.close()
    expect(await read(PROJECTS[0])).toBe('/a a-pool\nGET /again\n')
    expect(await read(PROJECTS[1])).toBe('/b b-pool\n')
    expect((await stat(join(directory, `${PROJECTS[0]}.log`))).mode & 0o777).toBe(0o640)
    expect(logs.counts).toEqual({ taken: 3, lost: 0 })
  })

  test("are bounded, and one project's flood costs another no line", async () => {
    const { directory, logs, took, read } = await logging()
    logs.applied('a', entryOf('a', PROJECTS[0]))
    logs.applied('b', entryOf('b', PROJECTS[1]))
    for (let count = 0; count < 3_000; count++) took('a', `/${'x'.repeat(900)}`)
    took('b', '/one')
    await logs.close()
    expect(await read(PROJECTS[1])).toBe('/one b-pool\n')
    expect(logs.counts.lost).toBeGreaterThan(0)
    for (const end of ['.log', '.log.1'])
      expect((await stat(join(directory, `${PROJECTS[0]}${end}`))).size).toBeLessThanOrEqual(10_000)
  })

  test('go to a syslog receiver in the network of their load balancer, and to no file', async () => {
    const { directory } = await logging()
    const sent: [SyslogReceiver, string][] = []
    const kept: (readonly SyslogReceiver[])[] = []
    const logs = new AccessLogs({
      files: { directory, mostBytes: 10_000, files: 2 },
      syslog: {
        send: (...one) => sent.push(one),
        keep: (receivers) => kept.push([...receivers]),
        troubleOf: () => 'connection refused',
      },
    })
    const target = { address: '10.0.0.9', port: 514, transport: 'udp' } as const
    const entry = loadBalancerEntry('a', {
      domain: 7,
      services: [{ ...service!, id: 'a-web', accessLog: { format: '{uri}', projectId: PROJECTS[0], syslog: target } }],
    })
    logs.applied('a', entry)
    logs.take({ ...saying({ uri: '/a' }), listenerId: 'a-web' })
    expect(sent).toEqual([[{ domain: 7, target }, expect.stringMatching(/^<134>1 .* spout - request - \/a$/)]])
    expect(logs.troubles()).toEqual([{ loadBalancerId: entry.id, listenerId: 'a-web', reason: 'connection refused' }])
    logs.applied('a', null)
    expect(logs.troubles()).toEqual([])
    logs.take({ ...saying({ uri: '/a' }), listenerId: 'a-web' })
    expect(sent).toHaveLength(1)
    expect(kept).toEqual([[{ domain: 7, target }], []])
    await logs.close()
    expect(await readdir(directory)).toEqual([])
  })

  test('have no other names than ids', async () => {
    const { logs, took } = await logging()
    for (const [at, projectId] of ['../escaped', '', 'a/b', '.hidden', 'a\u0000'].entries())
      logs.applied(`${at}`, entryOf(`${at}`, projectId))
    for (let at = 0; at < 5; at++) took(`${at}`, '/')
    expect(logs.counts.taken).toBe(0)
    await logs.close()
  })
})
