import type { Ingress } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { DIRECTIVES, HOSTILE } from '../../../../connector/src/testing/hostile-texts.ts'
import { NGINX_ANNOTATIONS, NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled, problemsOf, routesOf } from '../testing/compiled.ts'
import { backend, ingress, rule } from '../testing/objects.ts'
import { SERVED } from '../testing/served-annotations.ts'

const good = ingress('good', 1, { rules: [rule('good.example / Prefix web')] })
const withAnnotations = (annotations: Readonly<Record<string, string>>): Ingress =>
  ingress(
    'hostile',
    2,
    { rules: [rule('a.example /x Prefix web')] },
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])),
  )

const DNS = 'external-dns.alpha.kubernetes.io/'

/** The other Ingress is served as without the hostile one, and no directive got through. */
function expectHarmless(hostile: Ingress, around: Parameters<typeof compiled.around>[0] = {}): void {
  const made = compiled.around(around)(good, hostile)
  expect(answer(made, { host: 'good.example', path: '/any' })).toBe('web')
  expect(problemsOf(made, good)).toEqual([])
  expect(JSON.stringify({ ...made.content, name: '' })).not.toMatch(DIRECTIVES)
  for (const { message, field } of made.problems.get(hostile.metadata.uid ?? '') ?? []) {
    expect(`${field}: ${message}`.length).toBeLessThan(700)
    expect(message).not.toMatch(/[^\x20-\x7e]/)
  }
}

describe('CVEs of ingress-nginx', () => {
  const INJECTION = 'CN=x #(\n){}\n }}\nssl_engine ../../../proc/22/fd/11;\n#'

  test('CVE-2025-1974: what an Ingress holds is data, and nothing renders it', () => {
    for (const name of NGINX_ANNOTATIONS.keys()) expectHarmless(withAnnotations({ [name]: INJECTION }))
  })

  test('CVE-2025-1097: auth-tls-match-cn', () => {
    const hostile = withAnnotations({ 'auth-tls-match-cn': INJECTION, 'auth-tls-secret': 'shop/ca' })
    expectHarmless(hostile)
    expect(answer(compiled(hostile), { path: '/x' })).toBe('503')
  })

  test('CVE-2025-1098: mirror-target and mirror-host', () => {
    const hostile = withAnnotations({ 'mirror-target': `http://x/#;${INJECTION}`, 'mirror-host': INJECTION })
    expectHarmless(hostile)
    expect(JSON.stringify(compiled(hostile).content)).not.toContain('mirrors')
  })

  test('CVE-2025-24514: auth-url', () => {
    const hostile = withAnnotations({ 'auth-url': `http://example.com/#;${INJECTION}` })
    expectHarmless(hostile)
    expect(answer(compiled(hostile), { path: '/x' })).toBe('503')
  })

  test('CVE-2026-24512: the path of a rule', () => {
    const path = '/x" {\n} location /secret { proxy_pass http://169.254.169.254; } #'
    const at = (annotations: Readonly<Record<string, string>>): Ingress => ({
      ...withAnnotations(annotations),
      spec: {
        rules: [
          {
            host: 'a.example',
            http: { paths: [{ path, pathType: 'ImplementationSpecific', backend: backend('web') }] },
          },
        ],
      },
    })
    for (const annotations of [{}, { 'use-regex': 'true' }, { 'rewrite-target': '/$1' }]) {
      const hostile = at(annotations as Readonly<Record<string, string>>)
      expectHarmless(hostile)
      expect(routesOf(compiled(hostile)).every(({ action }) => action.type === 'respond')).toBe(true)
      expect(problemsOf(compiled(hostile), hostile)).toEqual(['InvalidRoute spec.rules[0].http.paths[0]'])
    }
  })

  test('CVE-2025-15566: auth-proxy-set-headers', () => {
    const hostile = withAnnotations({ 'auth-proxy-set-headers': `shop/headers${INJECTION}` })
    expectHarmless(hostile)
    expect(answer(compiled(hostile), { path: '/x' })).toBe('503')
  })
})

describe('hostile text is refused or harmless, and nobody else changes', () => {
  test.each([...NGINX_ANNOTATIONS.keys()])('in %s', (name) => {
    // What it is read with, or nobody would look at it.
    const [, beside] = typeof SERVED[name] === 'object' ? SERVED[name] : ['', {}]
    for (const text of HOSTILE) expectHarmless(withAnnotations({ ...beside, [name]: text }))
  })

  test('in names of annotations', () => {
    for (const text of HOSTILE) expectHarmless(withAnnotations({ [text]: 'x' }))
  })

  test('in annotations of ours, and those that name names', () => {
    for (const text of HOSTILE)
      for (const name of ['spout.dev/ssl-redirect', `spout.dev/${text}`, `${DNS}hostname`, `${DNS}ttl`]) {
        const rules = [rule('a.example /x Prefix web')]
        const hostile = ingress('hostile', 2, { rules }, { [`${DNS}hostname`]: 'n.example', [name]: text })
        expectHarmless(hostile, { domains: ['*.example'] })
      }
  })

  test('in what TLS names, backends of all kinds, and ports', () => {
    for (const text of HOSTILE)
      for (const spec of [
        { tls: [{ secretName: text, hosts: ['a.example'] }] },
        { tls: [{ secretName: 'one', hosts: [text] }] },
        { defaultBackend: backend(text) },
        { defaultBackend: backend('web', text) },
        { defaultBackend: { resource: { apiGroup: text, kind: text, name: text } } },
      ])
        expectHarmless({ ...withAnnotations({ 'force-ssl-redirect': 'true' }), spec })
  })

  test('in hosts, paths and names of Services, with and without expressions', () => {
    for (const text of HOSTILE)
      for (const annotations of [{}, { 'use-regex': 'true' }, { 'rewrite-target': '/$1' }, { 'app-root': '/y' }])
        for (const pathType of ['Exact', 'Prefix', 'ImplementationSpecific'] as const) {
          const base = withAnnotations(annotations as Readonly<Record<string, string>>)
          const paths = [{ path: `/${text}`, pathType, backend: backend('web') }]
          expectHarmless({ ...base, spec: { rules: [{ host: 'a.example', http: { paths } }] } })
          const plain = [{ path: '/x', pathType, backend: backend(text) }]
          expectHarmless({ ...base, spec: { rules: [{ host: text, http: { paths: plain } }] } })
        }
  })
})
