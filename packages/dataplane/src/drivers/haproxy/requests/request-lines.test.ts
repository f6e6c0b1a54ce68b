import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRequestLine } from './request-lines.ts'

const base64 = (text: string): string => (text === '' ? '' : Buffer.from(text, 'latin1').toString('base64'))
const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 }).map((all) => String.fromCharCode(...all))
const orNull = (text: string): string | null => (text === '' ? null : text)

describe('a line', () => {
  test('has what clients wrote as they wrote it, whatever that is', () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (uri, host, userAgent, name) => {
        const request = ['1700000000000001', base64('GET'), base64(uri), '2.0', base64(host), base64(userAgent), '']
        const line = [
          'id 1700000000000901 192.0.2.1 5 192.0.2.9 443 b3 - route-1 10.0.0.1 80 200 7 8 2 3 -- TLSv1.3',
          base64(name),
        ]
        expect(parseRequestLine([...line, ...request].join(' '))).toEqual({
          ...{ listenerId: 'id', endedAtUs: 1_700_000_000_000_901, durationUs: 900, waitedMs: 2 },
          ...{ client: { address: '192.0.2.1', port: 5 }, vip: { address: '192.0.2.9', port: 443 } },
          ...{
            backendSlot: 3,
            routeId: 'route-1',
            member: { address: '10.0.0.1', port: 80 },
            status: 200,
            bytesIn: 7,
            bytesOut: 8,
          },
          ...{ ending: '--', tlsVersion: 'TLSv1.3', serverName: orNull(name) },
          http: {
            ...{ method: 'GET', uri, version: '2.0', host: orNull(host), userAgent: orNull(userAgent), referer: null },
          },
        })
      }),
    )
  })

  test('of a relayed request has the backend that it went on to', () => {
    const line = 'id 9 ::1 5 ::2 80 deadline b12 - - 0 504 7 8 -1 3 sH - - 4 R0VU Lw== 1.1   '
    expect(parseRequestLine(line)).toMatchObject({ backendSlot: 12, member: null, waitedMs: null, durationUs: 5 })
  })

  test('of a connection has how long that was', () => {
    const line = 'id 9 192.0.2.1 5 192.0.2.9 443 b3 - - 10.0.0.1 80 - 7 8 2 1500 -- - - -'
    expect(parseRequestLine(line)).toMatchObject({ routeId: null, status: null, durationUs: 1_500_000, http: null })
  })

  test('that is none is refused, and never throws', () => {
    for (const line of ['', '- 9 192.0.2.1 5 192.0.2.9 80 f1 - - - - 400 0 0 -1 0 PR - - -', 'id', 'id 9 192.0.2.1 5'])
      expect(parseRequestLine(line)).toBeNull()
    fc.assert(fc.property(bytes, (line) => void parseRequestLine(line)))
  })
})
