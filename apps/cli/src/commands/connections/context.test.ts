import { expect, test } from 'vitest'
import { sessionOf, UsageError } from './context.ts'

const sessionWith = (env: Readonly<Record<string, string>>) =>
  sessionOf({ env, colour: false, write: () => {}, signal: new AbortController().signal })

test('one control plane, or several in the order in which they are asked', () => {
  const urlsOf = (given: string) => sessionWith({ SPOUT_ENDPOINT: given, SPOUT_TOKEN: 't' }).endpoints.urls
  expect(urlsOf('http://127.0.0.1:9130/')).toEqual(['http://127.0.0.1:9130'])
  expect(urlsOf('https://b.example, https://a.example')).toEqual(['https://b.example', 'https://a.example'])
})

test.each([
  [{ SPOUT_TOKEN: 't' }, 'SPOUT_ENDPOINT is not set'],
  [{ SPOUT_ENDPOINT: 'http://127.0.0.1:9130' }, 'SPOUT_TOKEN is not set'],
  [{ SPOUT_ENDPOINT: '127.0.0.1:9130', SPOUT_TOKEN: 't' }, 'SPOUT_ENDPOINT: "127.0.0.1:9130" is not a URL'],
  [{ SPOUT_ENDPOINT: 'https://a.example,b.example', SPOUT_TOKEN: 't' }, 'SPOUT_ENDPOINT: "b.example" is not a URL'],
])('called wrongly: %j', (env, reason) => {
  expect(() => sessionWith(env)).toThrow(UsageError)
  expect(() => sessionWith(env)).toThrow(reason)
})
