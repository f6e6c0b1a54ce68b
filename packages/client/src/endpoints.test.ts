import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Endpoints, parseEndpoints } from './endpoints.ts'

test.each([
  ['http://127.0.0.1:9130', ['http://127.0.0.1:9130']],
  ['https://a.example:9130,https://b.example/', ['https://a.example:9130', 'https://b.example']],
  [' https://a.example/spout/ , http://[fd00::1]:9130', ['https://a.example/spout', 'http://[fd00::1]:9130']],
  [
    ['https://b.example', 'https://a.example'],
    ['https://b.example', 'https://a.example'],
  ],
  [['https://a.example', 'https://a.example/'], ['https://a.example']],
])('%j is %j', (given, urls) => {
  expect(parseEndpoints(given)).toEqual(urls)
})

test.each([
  ['', '"" is not a URL like https://spout.example.org:9130'],
  ['https://a.example,', '"" is not a URL'],
  ['127.0.0.1:9130', '"127.0.0.1:9130" is not a URL'],
  ['https://a.example;https://b.example', '"https://a.example;https://b.example" is not a URL'],
  ['ftp://a.example', '"ftp://a.example" is not a URL'],
  ['https://joe:secret@a.example', 'is not a URL'],
  ['https://a.example?x=1', 'is not a URL'],
  ['https://a.example https://b.example', 'is not a URL'],
  [[], 'names no URL'],
  [Array.from({ length: 17 }, (_, n) => `https://cp${n}.example`), 'names 17 URLs; at most 16 are asked'],
])('%j is refused', (given, reason) => {
  expect(() => parseEndpoints(given)).toThrow(reason)
})

const [A, B, C] = ['http://a', 'http://b', 'http://c'] as const

test('the first is asked first until it fails, and then whichever answered last', () => {
  const endpoints = new Endpoints([A, B, C])
  expect(endpoints.inTurn()).toEqual([A, B, C])
  endpoints.failed(A)
  expect(endpoints.inTurn()).toEqual([B, C, A])
  endpoints.failed(B)
  endpoints.answered(C)
  expect([endpoints.present, ...endpoints.inTurn()]).toEqual([C, C, A, B])
})

test('of several requests that failed at one, the first alone goes on', () => {
  const endpoints = new Endpoints([A, B, C])
  endpoints.failed(A)
  endpoints.failed(A)
  expect(endpoints.present).toBe(B)
})

test('one that answered is not doubted until it fails, nor one that is alone', () => {
  const endpoints = new Endpoints([A, B])
  expect([A, B].map((url) => endpoints.isDoubtful(url))).toEqual([true, true])
  endpoints.answered(A)
  expect([A, B].map((url) => endpoints.isDoubtful(url))).toEqual([false, true])
  endpoints.failed(A)
  expect([A, B].map((url) => endpoints.isDoubtful(url))).toEqual([true, true])
  expect(new Endpoints([A]).isDoubtful(A)).toBe(false)
})

test('whatever answers and fails, each request asks each one once', () => {
  const urls = [A, B, C]
  const event = fc.record({ what: fc.constantFrom('answered', 'failed'), url: fc.constantFrom(...urls) } as const)
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const endpoints = new Endpoints(urls)
      for (const { what, url } of events) endpoints[what](url)
      expect(endpoints.inTurn()[0]).toBe(endpoints.present)
      expect(endpoints.inTurn().toSorted()).toEqual(urls)
    }),
  )
})
