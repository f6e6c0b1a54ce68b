import type { CheckSpec } from '@spout/model'
import type { Connect, ConnectResult } from '@spout/sys'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { httpCheck, httpRequest, statusCode } from './http.ts'
import { httpsCheck, serverNameOf } from './https.ts'
import { pingCheck } from './ping.ts'
import { tcpCheck } from './tcp.ts'

const http = {
  method: 'GET',
  path: '/health',
  expectedCodes: [
    { first: 200, last: 200 },
    { first: 300, last: 399 },
  ],
  version: '1.1',
  host: null,
} as const
const spec: CheckSpec = { type: 'http', intervalMs: 1_000, timeoutMs: 500, rise: 1, fall: 1, http }
const target = { domain: 7, address: '10.0.0.9', port: 8080, spec }
const place = (domain: number) => `/run/netns/d${domain}`
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

const answering = (result: ConnectResult) => {
  const asked: Connect[] = []
  return {
    asked,
    connect: async (request: Connect) => {
      asked.push(request)
      return result
    },
  }
}
const received = (answer: string, end: 'full' | 'closed' | 'timeout' | 'reset' = 'full'): ConnectResult => ({
  connected: true,
  received: new TextEncoder().encode(answer),
  end,
  durationMs: 2,
})
const refused: ConnectResult = { connected: false, reason: 'connection refused', durationMs: 1 }
const late: ConnectResult = { connected: false, reason: 'timed out', durationMs: 500 }

describe('httpRequest', () => {
  it.each([
    [http, '10.0.0.9', 8080, 'Host: 10.0.0.9:8080'],
    [http, '10.0.0.9', 80, 'Host: 10.0.0.9'],
    [http, 'fd00::9', 8080, 'Host: [fd00::9]:8080'],
    [{ ...http, host: 'app.example' }, 'fd00::9', 8080, 'Host: app.example'],
  ])('%j to %s port %i says %s', (probe, address, port, line) => {
    const request = text(httpRequest(probe, address, port))
    expect(request.split('\r\n')[0]).toBe('GET /health HTTP/1.1')
    expect(request.split('\r\n')).toContain(line)
    expect(request.split('\r\n')).toContain('Connection: close')
    expect(request.endsWith('\r\n\r\n')).toBe(true)
  })

  it('escapes no field', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('\r', '\n', ' ', '\0', '\x7f', 'é'), (before, evil) => {
        expect(() => httpRequest({ ...http, path: `/${before}${evil}` }, '10.0.0.9', 80)).toThrow(RangeError)
        expect(() => httpRequest({ ...http, host: `a${evil}${before}` }, '10.0.0.9', 80)).toThrow(RangeError)
      }),
    )
  })
})

describe('statusCode', () => {
  it.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.0 404 ', 404],
    ['HTTP/1.1 204\r\n', 204],
    ['HTTP/1.1 204', 204],
    ['HTTP/2 200', null],
    ['HTTP/1.1 2000', null],
    ['HTTP/1.1  200 ', null],
    ['http/1.1 200 OK', null],
    [' HTTP/1.1 200', null],
    ['HTTP/1.1 600 ', null],
    ['SSH-2.0-OpenS', null],
    ['', null],
  ])('%j is %j', (answer, status) => expect(statusCode(new TextEncoder().encode(answer))).toBe(status))

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const status = statusCode(bytes)
        expect(status === null || (status >= 100 && status <= 599)).toBe(true)
      }),
    )
  })
})

describe('httpCheck', () => {
  it.each<[string, ConnectResult, string | null]>([
    ['an expected status', received('HTTP/1.1 200 '), null],
    ['a status of a range', received('HTTP/1.1 302 '), null],
    ['another status', received('HTTP/1.1 500 '), 'status 500, expected 200, 300-399'],
    ['something else', received('220 mail.exam'), 'the answer is not HTTP'],
    ['a short answer', received('HTTP/1.1 204', 'closed'), 'status 204, expected 200, 300-399'],
    ['nothing in time', received('', 'timeout'), 'timed out after 500 ms'],
    ['half an answer in time', received('HTTP/1.1 2', 'timeout'), 'timed out after 500 ms'],
    ['an end', received('', 'closed'), 'closed without an answer'],
    ['a reset', received('', 'reset'), 'connection reset'],
    ['a refusal', refused, 'connection refused'],
    ['no answer', late, 'timed out after 500 ms'],
  ])('%s', async (_, result, reason) => {
    const connector = answering(result)
    expect(await httpCheck(connector, place).run(target)).toEqual({
      ok: reason === null,
      reason,
      durationMs: result.durationMs,
    })
    expect(connector.asked[0]).toMatchObject({
      netns: '/run/netns/d7',
      address: '10.0.0.9',
      port: 8080,
      timeoutMs: 500,
    })
  })
})

describe('httpsCheck', () => {
  const failed = (reason: string, alert: number | null): ConnectResult => ({
    connected: true,
    received: new Uint8Array(),
    end: 'tls',
    tls: { reason, alert },
    durationMs: 2,
  })
  it.each<[string, ConnectResult, string | null]>([
    ['an expected status', received('HTTP/1.1 200 '), null],
    ['another status', received('HTTP/1.1 500 '), 'status 500, expected 200, 300-399'],
    ['an end', received('', 'closed'), 'closed without an answer'],
    ['nothing in time', received('', 'timeout'), 'timed out after 500 ms'],
    ['an alert', failed('sslv3 alert handshake failure', 40), 'refused the TLS handshake (handshake failure)'],
    ['an alert that nobody knows', failed('unknown', 254), 'refused the TLS handshake (alert 254)'],
    ['no TLS', failed('wrong version number', null), 'the answer is not TLS'],
    ['bad TLS', failed('excessive message size', null), 'TLS failed (excessive message size)'],
    ['a refusal', refused, 'connection refused'],
    ['no answer', late, 'timed out after 500 ms'],
  ])('%s', async (_, result, reason) => {
    const connector = answering(result)
    const named = { ...spec, http: { ...http, host: 'app.example.' } }
    const said = await httpsCheck(connector, place).run({ ...target, port: 443, spec: named })
    expect(said).toEqual({ ok: reason === null, reason, durationMs: result.durationMs })
    const { send, ...asked } = connector.asked[0]!
    expect(asked).toEqual({
      netns: '/run/netns/d7',
      address: '10.0.0.9',
      port: 443,
      timeoutMs: 500,
      tls: { serverName: 'app.example' },
      maxBytes: 13,
    })
    expect(text(send)).toContain('\r\nHost: app.example.\r\n')
  })

  it.each([
    ['app.example', 'app.example'],
    ['app.example.', 'app.example'],
    ['10.0.0.9', null],
    ['.', null],
    [null, null],
  ])('for the host %s it names the server %s', (host, name) => expect(serverNameOf(host)).toBe(name))

  it('leaves the usual port out of the Host', async () => {
    const connector = answering(late)
    const check = httpsCheck(connector, place)
    for (const port of [443, 80]) await check.run({ ...target, port })
    expect(connector.asked.map(({ send, tls }) => [text(send).split('\r\n')[1], tls])).toEqual([
      ['Host: 10.0.0.9', {}],
      ['Host: 10.0.0.9:80', {}],
    ])
  })
})

describe('tcpCheck', () => {
  it.each<[ConnectResult, string | null]>([
    [{ connected: true, received: new Uint8Array(), end: 'none', durationMs: 1 }, null],
    [refused, 'connection refused'],
    [late, 'timed out after 500 ms'],
  ])('%j', async (result, reason) => {
    const connector = answering(result)
    expect(await tcpCheck(connector, place).run(target)).toMatchObject({ ok: reason === null, reason })
    expect(connector.asked[0]?.send).toBeUndefined()
  })
})

describe('pingCheck', () => {
  it.each([
    [{ answered: true, durationMs: 3 } as const, { ok: true, reason: null, durationMs: 3 }],
    [
      { answered: false, reason: 'timed out' } as const,
      { ok: false, reason: 'timed out after 500 ms', durationMs: 500 },
    ],
    [
      { answered: false, reason: 'no route to host' } as const,
      { ok: false, reason: 'no route to host', durationMs: 500 },
    ],
  ])('%j', async (result, expected) => {
    expect(await pingCheck({ ping: async () => result }, place).run(target)).toEqual(expected)
  })
})
