import { expect, test } from 'vitest'
import { NGINX_ANNOTATIONS, NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled } from '../testing/compiled.ts'
import { ingress, rule } from '../testing/objects.ts'

/** A value of each annotation that is served, and what it needs beside it. */
const SERVED: Readonly<Record<string, string | readonly [value: string, beside: Readonly<Record<string, string>>]>> = {
  'app-root': '/x',
  'permanent-redirect': 'https://b.example',
  'permanent-redirect-code': ['308', { 'permanent-redirect': 'https://b.example' }],
  'temporal-redirect': 'https://b.example',
  'temporal-redirect-code': ['307', { 'temporal-redirect': 'https://b.example' }],
  'from-to-www-redirect': 'true',
  'use-regex': 'true',
  'enable-cors': 'true',
  'cors-allow-methods': ['GET', { 'enable-cors': 'true' }],
  'cors-allow-headers': ['x-a', { 'enable-cors': 'true' }],
  'cors-expose-headers': ['x-a', { 'enable-cors': 'true' }],
  'cors-allow-origin': ['https://b.example', { 'enable-cors': 'true' }],
  'cors-allow-credentials': ['false', { 'enable-cors': 'true', 'cors-allow-origin': 'https://b.example' }],
  'cors-max-age': ['7', { 'enable-cors': 'true' }],
  'whitelist-source-range': '10.0.0.0/8',
  'allowlist-source-range': '10.0.0.0/8',
  'denylist-source-range': '10.0.0.0/8',
  canary: 'true',
  'canary-by-header': ['x', { canary: 'true' }],
  'canary-by-header-value': ['v', { canary: 'true', 'canary-by-header': 'x' }],
  'canary-by-header-pattern': ['v', { canary: 'true', 'canary-by-header': 'x' }],
  'canary-by-cookie': ['x', { canary: 'true' }],
  'canary-weight': ['7', { canary: 'true' }],
  'canary-weight-total': ['1000', { canary: 'true', 'canary-weight': '7' }],
  'upstream-vhost': 'in.example',
  'x-forwarded-prefix': '/x',
  'server-alias': 'b.example',
  'mirror-target': 'http://next.shop.svc',
  'proxy-ssl-name': ['in.example', { 'backend-protocol': 'HTTPS' }],
  'proxy-ssl-protocols': ['TLSv1.3', { 'backend-protocol': 'HTTPS' }],
  'ssl-redirect': 'true',
  'force-ssl-redirect': 'true',
  'rewrite-target': '/x',
  'proxy-read-timeout': '7',
  'proxy-next-upstream': 'error http_503',
  'proxy-next-upstream-tries': '2',
  affinity: 'cookie',
  'backend-protocol': 'HTTPS',
  'upstream-hash-by': '$remote_addr',
  'load-balance': 'ewma',
  'default-backend': 'none',
}

/** One Ingress with the annotations, and another one with the same path, whose canary it may be. */
const contentOf = (annotations: Readonly<Record<string, string>>) => {
  const rules = [rule('a.example /x Prefix next'), rule('c.example / Prefix next')]
  const spec = { rules, tls: [{ secretName: 's', hosts: ['a.example'] }] }
  const prefixed = Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])
  const one = ingress('one', 2, spec, Object.fromEntries(prefixed))
  const other = ingress('other', 1, { rules: [rule('a.example /x Prefix web'), rule('c.example / Prefix web')] })
  const all = annotations['canary'] === undefined ? [one] : [one, other]
  const made = compiled(...all)
  return { made, problems: made.problems.get(one.metadata.uid ?? '') ?? [] }
}

const rows = [...NGINX_ANNOTATIONS].map(([name, { verdict, note }]) => ({ name, verdict, note }))

test.each(rows.filter(({ verdict }) => verdict === 'taken' || verdict === 'differs'))('$name is served', ({ name }) => {
  const given = SERVED[name]
  expect(given, `a value of ${name}`).toBeDefined()
  const [value, beside] = typeof given === 'string' ? [given, {}] : given!
  const [without, having] = [contentOf(beside), contentOf({ ...beside, [name]: value })]
  const isTold = having.problems.some(({ field }) => field.includes(`/${name}]`))
  if (!isTold) expect(having.made.content).not.toEqual(without.made.content)
})

test.each(rows.filter(({ verdict }) => verdict === 'refused'))('$name makes paths refused, and says so', ({ name }) => {
  const { made, problems } = contentOf({ [name]: 'on' })
  expect(answer(made, { path: '/x' }, 'https')).toBe('503')
  expect(problems).toContainEqual(
    expect.objectContaining({ reason: 'AnnotationRefused', field: expect.stringContaining(`/${name}]`) }),
  )
})

test.each(rows.filter(({ verdict }) => verdict === 'not taken'))('$name changes nothing, and is said', ({ name }) => {
  const { made, problems } = contentOf({ [name]: 'on' })
  expect(made.content).toEqual(contentOf({}).made.content)
  expect(problems).toEqual([
    {
      reason: 'AnnotationNotTaken',
      field: `metadata.annotations[${NGINX_PREFIX}${name}]`,
      message: expect.stringMatching(/^not taken: .+\.$/),
    },
  ])
})

test('what nobody knows is said, too; thousands are not', () => {
  expect(contentOf({ 'of-tomorrow': 'x' }).problems).toMatchObject([{ reason: 'AnnotationNotTaken' }])
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, 'x']))
  expect(contentOf(many).problems).toHaveLength(100)
})
