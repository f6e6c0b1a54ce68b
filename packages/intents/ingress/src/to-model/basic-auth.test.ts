import type { CertificateSight } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled, problemsOf, routeOfRequest } from '../testing/compiled.ts'
import { ingress, rule, uid } from '../testing/objects.ts'
import { secretsOf } from './secrets.ts'

type Annotations = Readonly<Record<string, string>>

const given = (annotations: Annotations) => {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])
  return ingress('i1', 1, { rules: [rule('a.example / Prefix web')] }, Object.fromEntries(prefixed))
}
const BASIC = { 'auth-type': 'basic', 'auth-secret': 'staff' }
const field = (name: string) => `metadata.annotations[${NGINX_PREFIX}${name}]`
const asked = (annotations: Annotations, request = {}) => {
  const action = routeOfRequest(compiled(given(annotations)), request)?.action
  return action?.type === 'forward' ? action.basicAuthentication : undefined
}

describe('auth-type: basic', () => {
  test('asks for a user of the Secret, which is read by its name', () => {
    expect(asked(BASIC)).toEqual({ realm: 'Authentication required', usersId: uid(901) })
    expect(asked({ ...BASIC, 'auth-realm': 'The "Shop"' })).toMatchObject({ realm: 'The "Shop"' })
    expect(problemsOf(compiled(given(BASIC)), given(BASIC))).toEqual([])
    expect([...secretsOf([given(BASIC)])]).toEqual(['Users/shop/staff'])
    const map = { ...BASIC, 'auth-secret': 'shop/staff', 'auth-secret-type': 'auth-map' }
    expect([...secretsOf([given(map)])]).toEqual(['UsersByName/shop/staff'])
    expect(asked(map)).toBeDefined()
  })

  test.each([
    ['auth-secret', { ...BASIC, 'auth-secret': 'other/staff' }],
    ['auth-secret', { ...BASIC, 'auth-secret': '../staff' }],
    ['auth-secret', { ...BASIC, 'auth-secret': 'a/b/c' }],
    ['auth-secret-type', { ...BASIC, 'auth-secret-type': 'toString' }],
    ['auth-type', { 'auth-type': 'digest', 'auth-secret': 'staff' }],
    ['auth-type', { 'auth-type': 'basic' }],
  ])('with %s as in %j the paths are closed, and no Secret is read', (name, annotations) => {
    const one = given(annotations as Annotations)
    expect(answer(compiled(one), {})).toBe('503')
    expect(problemsOf(compiled(one), one)).toContain(`AnnotationRefused ${field(name)}`)
    expect([...secretsOf([one])]).toEqual([])
  })

  test.each(['Shop\n', 'Shop\r\nX: y', 'läden', 'x'.repeat(129)])(
    'realm %j is left out, and passwords are asked for',
    (realm) => {
      const one = given({ ...BASIC, 'auth-realm': `a${realm}b` })
      const action = routeOfRequest(compiled(one), {})?.action
      expect(action).toMatchObject({ basicAuthentication: { realm: 'Authentication required' } })
      expect(problemsOf(compiled(one), one)).toEqual([`InvalidAnnotation ${field('auth-realm')}`])
    },
  )

  test.each<CertificateSight>([
    { type: 'waits' },
    { type: 'refused', refusal: { reason: 'SecretNotFound', field: 'secret', message: 'There is none.' } },
    {
      type: 'ready',
      certificate: { id: uid(901), name: '', tags: [], names: [] },
      notice: { reason: 'InvalidUsers', field: 'data', message: 'users: line 3: its hash is none of those.' },
    },
  ])('while its Secret is %j the paths are closed', (sight) => {
    const made = compiled.around({ certificate: () => sight })(given(BASIC))
    expect(answer(made, {})).toBe('503')
    expect(problemsOf(made, given(BASIC))).toEqual(
      sight.type === 'waits' ? [] : [`AnnotationRefused ${field('auth-secret')}`],
    )
  })

  test('with auth-url both are asked, and with satisfy: any one is enough', () => {
    const both = { ...BASIC, 'auth-url': 'http://next.shop.svc/check' }
    const actionOf = (annotations: Annotations, request = {}) =>
      routeOfRequest(compiled(given(annotations)), request)?.action
    expect(problemsOf(compiled(given(both)), given(both))).toEqual([])
    const asks = { authorizer: { pool: 'shop/next:80' }, basicAuthentication: { usersId: uid(901) } }
    expect(actionOf(both)).toMatchObject(asks)
    expect(actionOf(both)).not.toHaveProperty('satisfy')
    expect(actionOf({ ...both, satisfy: 'all' })).not.toHaveProperty('satisfy')
    // What is not understood asks for both.
    expect(actionOf({ ...both, satisfy: 'either' })).not.toHaveProperty('satisfy')
    const any = { ...both, satisfy: 'any' }
    expect(actionOf(any)).toMatchObject({ ...asks, satisfy: 'any' })
    const listed = { ...any, 'allowlist-source-range': '10.0.0.0/8' }
    expect(actionOf(listed, { source: '192.0.2.1' })).toMatchObject({ ...asks, satisfy: 'any' })
    for (const field of ['authorizer', 'basicAuthentication', 'satisfy'])
      expect(actionOf(listed, { source: '10.0.0.5' })).not.toHaveProperty(field)
    expect(asked({ ...BASIC, satisfy: 'any' })).toBeDefined()
    expect(actionOf({ ...BASIC, satisfy: 'any' })).not.toHaveProperty('satisfy')
  })

  test.each([
    ['auth-secret', { 'auth-type': 'basic', 'auth-url': 'http://next.shop.svc' }],
    ['auth-url', { ...BASIC, 'auth-url': 'http://auth.other.svc' }],
  ])('with satisfy: any, one that cannot be asked closes the paths: %s', (_, annotations) => {
    expect(answer(compiled(given({ ...(annotations as Annotations), satisfy: 'any' })), {})).toBe('503')
  })

  test('with an allow list both are needed, and with satisfy: any one of them', () => {
    const listed = { ...BASIC, 'allowlist-source-range': '10.0.0.0/8' }
    const inside = { source: '10.0.0.5' }
    expect(asked(listed, inside)).toBeDefined()
    expect(answer(compiled(given(listed)), { source: '192.0.2.1' })).toBe('403')
    const any = { ...listed, satisfy: 'any' }
    expect(asked(any, inside)).toBeUndefined()
    expect(answer(compiled(given(any)), inside)).toBe('web')
    expect(asked(any, { source: '192.0.2.1' })).toBeDefined()
  })
})
