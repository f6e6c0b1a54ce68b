import { describe, expect, test } from 'vitest'
import { HOSTILE } from '../../../../connector/src/testing/hostile-texts.ts'
import { configMapsOf } from '../ingress-nginx/custom-headers.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { compiled, problemsOf, routesOf } from '../testing/compiled.ts'
import { ingress, rule } from '../testing/objects.ts'
import { type ConfigMapSight, headersOf } from './custom-headers.ts'

const ANNOTATION = `${NGINX_PREFIX}custom-headers`
const naming = (value: string, more: Readonly<Record<string, string>> = {}) =>
  ingress('one', 1, { rules: [rule('a.example / Prefix web')] }, { [ANNOTATION]: value, ...more })
const filtersOf = (value: string, sight: ConfigMapSight, more = {}) => {
  const [route] = routesOf(compiled.around({ configMap: () => sight })(naming(value, more)))
  return route?.action.type === 'forward' ? (route.action.filters ?? []) : null
}
const FRAME = { value: { 'X-Frame-Options': 'DENY' } }

test('responses of pods get the headers of the ConfigMap, beside other filters', () => {
  const set = [{ name: 'x-frame-options', value: 'DENY' }]
  for (const name of ['headers', 'shop/headers'])
    expect(filtersOf(name, FRAME)).toMatchObject([{ type: 'response-headers', set }])
  const cors = { [`${NGINX_PREFIX}enable-cors`]: 'true' }
  expect(filtersOf('headers', FRAME, cors)).toMatchObject([{ type: 'cors' }, { type: 'response-headers', set }])
})

test('one of another namespace, or of no name, is not taken, not read, and said', () => {
  for (const name of ['other/headers', 'a b', '../x']) {
    expect(configMapsOf([naming(name)])).toEqual(new Set())
    expect(filtersOf(name, FRAME)).toEqual([])
    expect(problemsOf(compiled(naming(name)), naming(name))).toEqual([
      `InvalidAnnotation metadata.annotations[${ANNOTATION}]`,
    ])
  }
  expect(configMapsOf([naming('headers'), naming('shop/headers')])).toEqual(new Set(['shop/headers']))
})

test('a ConfigMap that is missing is said; the Ingress is served without its headers', () => {
  const refusal = { reason: 'ConfigMapNotFound', field: 'configMap', message: 'There is no ConfigMap shop/headers.' }
  expect(filtersOf('headers', { refusal })).toEqual([])
  const made = compiled.around({ configMap: () => ({ refusal }) })(naming('headers'))
  expect([...made.problems.values()][0]).toMatchObject([{ message: 'not taken: There is no ConfigMap shop/headers.' }])
})

describe('a header that may not be set is said, and keeps no other from being set', () => {
  const told = (value: Readonly<Record<string, string>>) => {
    const { filter, problems } = headersOf({ value: { ...value, 'x-good': 'yes' } })
    expect(filter).toMatchObject({ set: [{ name: 'x-good', value: 'yes' }] })
    expect(problems).toHaveLength(1)
    return problems[0]!.message
  }

  test.each(['Transfer-Encoding', 'content-length', 'Connection', 'Host'])('%s', (name) => {
    expect(told({ [name]: 'x' })).toContain(name)
  })

  test('hostile names and values', () => {
    for (const text of HOSTILE) {
      expect(told({ [`x ${text}`]: 'x' })).not.toMatch(/[^\x20-\x7e]/)
      const { filter, problems } = headersOf({ value: { 'x-good': 'yes', 'x-other': text } })
      expect(JSON.stringify(filter)).not.toMatch(/load_module|\\[rn]|\\u0000/)
      expect(filter).toMatchObject({ set: expect.arrayContaining([{ name: 'x-good', value: 'yes' }]) })
      for (const { message } of problems) expect(message).not.toMatch(/[^\x20-\x7e]/)
    }
  })

  test('one in two spellings, and more than a route has room for', () => {
    expect(headersOf({ value: { 'X-A': '1', 'x-a': '2' } })).toMatchObject({
      filter: { set: [{ name: 'x-a', value: '1' }] },
      problems: [{ message: expect.stringContaining('twice') }],
    })
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at + 10}`, 'x']))
    expect(headersOf({ value: many }).problems).toHaveLength(4)
    const long = Object.fromEntries(Array.from({ length: 3 }, (_, at) => [`x-${at}`, 'x'.repeat(900)]))
    expect(headersOf({ value: long })).toMatchObject({ filter: { set: [{}, {}] }, problems: [{}] })
  })
})
