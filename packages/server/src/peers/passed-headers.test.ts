import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { passedHeaders } from './passed-headers.ts'

/** As Node.js has read these lines. */
const message = (...rawHeaders: string[]): IncomingMessage => {
  const at = rawHeaders.findIndex((text, n) => n % 2 === 0 && text.toLowerCase() === 'connection')
  return { rawHeaders, headers: at < 0 ? {} : { connection: rawHeaders[at + 1] } } as IncomingMessage
}

test('lines stay as they came, without those of the connection and those that it names', () => {
  const passed = passedHeaders(
    message(
      ...['Host', 'api.example', 'Connection', 'keep-alive, X-Private', 'Keep-Alive', 'timeout=5', 'X-Private', '1'],
      ...['X-Forwarded-For', '192.0.2.1', 'TE', 'trailers', 'X-Forwarded-For', '192.0.2.2', 'Expect', '100-continue'],
    ),
  )
  expect({ ...passed }).toEqual({ host: 'api.example', 'x-forwarded-for': ['192.0.2.1', '192.0.2.2'] })
})

test('a client cannot take away how its body is framed, nor whom it called', () => {
  const passed = passedHeaders(
    message(
      ...['Connection', 'content-length, Transfer-Encoding, host', 'Content-Length', '5', 'Host', 'a'],
      ...['Transfer-Encoding', 'chunked'],
    ),
  )
  expect({ ...passed }).toEqual({ 'content-length': '5', host: 'a', 'transfer-encoding': 'chunked' })
})

test('a header of the name of a property of all objects is a header', () => {
  expect(Object.entries(passedHeaders(message('__proto__', 'x', 'constructor', 'y')))).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})
