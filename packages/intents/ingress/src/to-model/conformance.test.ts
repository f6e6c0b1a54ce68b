import { describe, expect, test } from 'vitest'
import { answer, compiled } from '../testing/compiled.ts'
import { backend, ingress, ingressClass, rule } from '../testing/objects.ts'
import { classOf } from './classes.ts'

/**
 * The 25 scenarios of ingress-controller-conformance (kubernetes-sigs, April 2021), with its hosts and paths. TLS and the
 * spread over ten pods need traffic: e2e/kubernetes/ingresses.e2e.test.ts has them.
 */
const asked = (rules: readonly string[], url: string, defaultBackend?: ReturnType<typeof backend>): string => {
  const { hostname, pathname } = new URL(url)
  const spec = { rules: rules.map(rule), ...(defaultBackend === undefined ? {} : { defaultBackend }) }
  return answer(compiled(ingress('conformance', 1, spec)), { host: hostname, path: pathname })
}

describe('default backend: an Ingress with no rules sends all requests to it', () => {
  // Methods are no condition of any route.
  test.each([
    'my-host/',
    'my-host/sub-path',
    'some-host/',
    '192.0.2.1/resource',
    'some-host/resource',
    'my-host/resource',
  ])('%s', (url) => expect(asked([], `http://${url}`, backend('web'))).toBe('web'))
})

describe('host rules', () => {
  const RULES = ['*.foo.com / Prefix next', 'foo.bar.com / Prefix web']
  test.each([
    ['foo.bar.com', 'web'],
    ['subdomain.bar.com', '404'],
    ['bar.foo.com', 'next'],
    ['baz.bar.foo.com', '404'],
    ['foo.com', '404'],
  ])('%s gets %s', (host, expected) => expect(asked(RULES, `http://${host}/`)).toBe(expected))
})

describe('path rules', () => {
  const RULES = [
    'exact-path-rules /foo Exact web',
    'prefix-path-rules /foo Prefix web',
    'prefix-path-rules /aaa/bbb Prefix next',
    'prefix-path-rules /aaa Prefix sorry',
    'mixed-path-rules /foo Prefix web',
    'mixed-path-rules /foo Exact next',
    'trailing-slash-path-rules /aaa/bbb/ Prefix web',
    'trailing-slash-path-rules /foo/ Exact next',
  ]
  test.each([
    ['exact-path-rules/foo', 'web'],
    ['exact-path-rules/foo/', '404'],
    ['exact-path-rules/FOO', '404'],
    ['exact-path-rules/bar', '404'],
    ['prefix-path-rules/foo', 'web'],
    ['prefix-path-rules/foo/', 'web'],
    ['prefix-path-rules/FOO', '404'],
    ['prefix-path-rules/aaa/bbb', 'next'],
    ['prefix-path-rules/aaa/bbb/ccc', 'next'],
    ['prefix-path-rules/aaa/ccc', 'sorry'],
    ['prefix-path-rules/aaaccc', '404'],
    ['mixed-path-rules/foo', 'next'],
    ['mixed-path-rules/foo/bar', 'web'],
    ['trailing-slash-path-rules/aaa/bbb', 'web'],
    ['trailing-slash-path-rules/aaa/bbb/', 'web'],
    ['trailing-slash-path-rules/foo', '404'],
  ])('%s gets %s', (url, expected) => expect(asked(RULES, `http://${url}`)).toBe(expected))
})

test('ingress class: an Ingress of a class that does not exist is not served', () => {
  const one = ingress('test-ingress-class', 1, { ingressClassName: 'some-invalid-class-name' })
  expect(classOf(one, [ingressClass('spout')])).toBeNull()
})
