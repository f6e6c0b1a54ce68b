import { poolTls } from '@spout/model'
import { expect, test } from 'vitest'
import { pool } from '../testing/documents.ts'
import { poolTlsProblems } from './tls-problems.ts'

const fieldsOf = (own: Parameters<typeof pool>[2], mode: 'http' | 'tcp-proxy' | 'l4' = 'http') =>
  [...poolTlsProblems(pool(1, [], own), mode, 'pools[0]')].map(({ params }) => params.field)

test('HTTP/2 without TLS is for pools of protocol http that have no TLS', () => {
  expect(fieldsOf({ protocol: 'http', http2: true })).toEqual([])
  expect(fieldsOf({ protocol: 'http', http2: true, tls: poolTls.parse({}) })).toEqual(['pools[0].http2'])
  expect(fieldsOf({ protocol: 'tcp-proxy', http2: true }, 'tcp-proxy')).toEqual(['pools[0].http2'])
  expect(fieldsOf({ protocol: 'tcp-proxy-v1', http2: true })).toEqual(['pools[0].http2'])
})
