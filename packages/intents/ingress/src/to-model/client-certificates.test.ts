import type { Ingress } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { authoritiesNamedBy } from '../ingress-nginx/client-certificates.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled, problemsOf, routesOf } from '../testing/compiled.ts'
import { ingress, rule, uid } from '../testing/objects.ts'
import { secretsOf } from './secrets.ts'

type Annotations = Readonly<Record<string, string>>

const TLS = { tls: [{ secretName: 's', hosts: ['a.example'] }] }
const given = (age: number, path: string, annotations: Annotations, more: Ingress['spec'] = TLS): Ingress =>
  ingress(
    `i${age}`,
    age,
    { rules: [rule(`a.example ${path} Prefix web`)], ...more },
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])),
  )
const WANTED = { 'auth-tls-secret': 'shop/ca' }
const ALICE = { clientName: 'alice' }
const httpsOf = (made: ReturnType<typeof compiled>) =>
  made.content.listeners.find(({ protocol }) => protocol === 'https')
const REFUSED = `AnnotationRefused metadata.annotations[${NGINX_PREFIX}auth-tls-secret]`

describe('client certificates', () => {
  test('are asked for by the listener, and required where the Ingress says so', () => {
    const made = compiled(given(1, '/staff', WANTED), given(2, '/', {}))
    expect(httpsOf(made)?.tls?.clientCertificates).toMatchObject({ caCertificateId: uid(901), required: false })
    expect(httpsOf(made)?.insertHeaders).toContain('x-ssl-client-dn')
    expect(answer(made, { path: '/staff/x' }, 'https')).toBe('400')
    expect(answer(made, { path: '/staff/x', ...ALICE }, 'https')).toBe('web')
    expect(answer(made, { path: '/' }, 'https')).toBe('web')
    // Nobody shows a certificate in plain HTTP.
    expect(answer(made, { path: '/staff/x' })).toBe('308 https:///staff/x')
    expect(answer(made, { path: '/' })).toBe('web')
  })

  test('pods are told by proxies alone, whatever clients say', () => {
    const filterOf = (annotations: Annotations) => {
      const routes = routesOf(compiled(given(1, '/', annotations)), 'https')
      const action = routes.find(({ name }) => !name.includes('#'))?.action
      const filters = action?.type === 'forward' ? (action.filters ?? []) : []
      return filters.filter(({ type }) => type === 'request-headers')
    }
    const [filter, second] = filterOf({ ...WANTED, 'x-forwarded-prefix': '/p' })
    expect(second).toBeUndefined()
    expect(filter).toMatchObject({
      set: [
        { name: 'x-forwarded-prefix', value: '/p' },
        { name: 'ssl-client-verify', value: 'SUCCESS' },
      ],
      remove: expect.arrayContaining(['ssl-client-subject-dn', 'ssl_client_subject_dn', 'ssl-client-cert']),
    })
    const [optional] = filterOf({ ...WANTED, 'auth-tls-verify-client': 'optional' })
    expect(optional).toMatchObject({ set: [], remove: expect.arrayContaining(['ssl-client-verify']) })
  })

  test('optional ones are for all, off asks for none', () => {
    const optional = compiled(given(1, '/', { ...WANTED, 'auth-tls-verify-client': 'optional' }))
    expect(answer(optional, {}, 'https')).toBe('web')
    expect(httpsOf(optional)?.tls?.clientCertificates).not.toBeNull()
    const off = compiled(given(1, '/', { ...WANTED, 'auth-tls-verify-client': 'off' }))
    expect(httpsOf(off)?.tls?.clientCertificates).toBeNull()
    expect(answer(off, {})).toBe('web')
  })

  test('of other names are refused, and who has none is sent to the page', () => {
    const made = compiled(
      given(1, '/', {
        ...WANTED,
        'auth-tls-match-cn': 'CN=(alice|bob)$',
        'auth-tls-error-page': 'https://a.example/no',
      }),
    )
    expect(answer(made, {}, 'https')).toBe('302 https://a.example/no')
    expect(answer(made, ALICE, 'https')).toBe('web')
    for (const clientName of ['alicia', 'malice', 'mallory']) expect(answer(made, { clientName }, 'https')).toBe('403')
  })

  test('of two Secrets at one address the oldest counts; the paths of the other are closed', () => {
    const other = given(2, '/b', { 'auth-tls-secret': 'shop/other' })
    const made = compiled(given(1, '/a', WANTED), other, given(3, '/c', WANTED))
    expect(problemsOf(made, other)).toEqual([REFUSED])
    expect(answer(made, { path: '/b', ...ALICE }, 'https')).toBe('503')
    for (const path of ['/a', '/c']) expect(answer(made, { path, ...ALICE }, 'https')).toBe('web')
  })

  test.each<readonly [string, Annotations, NonNullable<Ingress['spec']>]>([
    ['of another namespace', { 'auth-tls-secret': 'other/ca' }, TLS],
    ['without a namespace', { 'auth-tls-secret': 'ca' }, TLS],
    ['what is no name', { 'auth-tls-secret': 'shop/ca;' }, TLS],
    ['let in unverified', { ...WANTED, 'auth-tls-verify-client': 'optional_no_ca' }, TLS],
    ['verified somehow', { ...WANTED, 'auth-tls-verify-client': 'yes' }, TLS],
    ['of an unknown part', { ...WANTED, 'auth-tls-match-cn': 'O=x' }, TLS],
    ['of an unusable expression', { ...WANTED, 'auth-tls-match-cn': 'CN=(?!a)' }, TLS],
    ['without a certificate of ours', WANTED, { tls: [] }],
  ])('close the paths, not open them: %s', (_, annotations, more) => {
    const one = given(1, '/', annotations, more)
    const made = compiled(one)
    expect(problemsOf(made, one)[0]).toContain('AnnotationRefused')
    for (const { protocol } of made.content.listeners)
      if (protocol === 'https' || made.content.listeners.length === 1)
        for (const request of [{}, ALICE]) expect(answer(made, request, protocol)).toBe('503')
  })

  test('a Secret that cannot be used closes the paths, also one that could before', () => {
    const refusal = { reason: 'SecretNotFound', field: 'secret', message: 'There is no Secret shop/ca.' }
    const certificate = { id: uid(901), name: '', tags: [], names: ['a.example'] }
    for (const sight of [
      { type: 'refused', refusal } as const,
      { type: 'ready', certificate, notice: refusal } as const,
      { type: 'waits' } as const,
    ]) {
      const one = given(1, '/', WANTED)
      const made = compiled.around({
        certificate: (key) => (key === 'Authorities/shop/ca' ? sight : { type: 'ready', certificate, notice: null }),
      })(one)
      expect(answer(made, ALICE, 'https')).toBe('503')
      expect(httpsOf(made)?.tls?.clientCertificates).toBeNull()
      expect(problemsOf(made, one)).toEqual(sight.type === 'waits' ? [] : [REFUSED])
    }
  })

  test('the Secret is read by its name, and no other', () => {
    expect([...secretsOf([given(1, '/', WANTED)])]).toEqual(['shop/s', 'Authorities/shop/ca'])
    expect(authoritiesNamedBy(given(1, '/', { 'auth-tls-secret': 'other/ca' }))).toBeNull()
  })
})
