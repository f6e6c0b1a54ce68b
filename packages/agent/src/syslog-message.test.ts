import type { CarriedRequest } from '@spout/dataplane'
import { expect, test } from 'vitest'
import { syslogMessage } from './syslog-message.ts'

const REQUEST: CarriedRequest = {
  ...{
    listenerId: 'web',
    pool: 1,
    routeId: null,
    endedAtUs: 1_700_000_000_123_056,
    durationUs: 500,
    waitedMs: 0,
    status: 200,
  },
  ...{ bytesIn: 70, bytesOut: 140, client: { address: '192.0.2.1', port: 5 }, vip: { address: '192.0.2.2', port: 80 } },
  ...{ member: null, ending: '--', tlsVersion: null, serverName: null },
  http: { method: 'GET', uri: '/', version: '1.1', host: 'h', userAgent: null, referer: null },
}

test('a message has the header of RFC 5424 before the line', () => {
  expect(syslogMessage('GET /', REQUEST)).toBe('<134>1 2023-11-14T22:13:20.123056Z 192.0.2.2 spout - request - GET /')
  expect(syslogMessage('a', { ...REQUEST, http: null, vip: { address: 'fd10::2', port: 80 } })).toBe(
    '<134>1 2023-11-14T22:13:20.123056Z fd10::2 spout - connection - a',
  )
  expect(syslogMessage('a', { ...REQUEST, vip: { address: '', port: 0 } })).toContain('056Z - spout - ')
})
