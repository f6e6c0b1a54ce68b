import { expect, test } from 'vitest'
import { openTestBed } from '../testing/test-bed.ts'
import { renderOpenApi } from './openapi.ts'
import { ROUTES } from './routes.ts'

const document = JSON.parse(renderOpenApi())

test('every operation is listed once, under its own id', () => {
  const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((path) =>
    Object.values(path).map((operation) => operation.operationId),
  )
  expect(ids).toHaveLength(ROUTES.length)
  expect(new Set(ids).size).toBe(ids.length)
})

test('every reference has a target', () => {
  const references = new Set([...renderOpenApi().matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path]) => path ?? ''))
  expect(references.size).toBeGreaterThan(10)
  for (const path of references) {
    const target = path
      .split('/')
      .reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, document)
    expect(target, path).toBeTypeOf('object')
  }
})

test('no secret has a place in an answer', () => {
  for (const known of ROUTES) {
    const path = document.paths[known.path.replaceAll(/:(\w+)/g, '{$1}')][known.method.toLowerCase()]
    expect(JSON.stringify(path.responses)).not.toMatch(/passwordHash|secretSha256|secretHash/)
  }
})

test('the same bytes each time', () => {
  expect(renderOpenApi()).toBe(renderOpenApi())
})

test('every operation that needs a caller says what it takes: a token, or the session of the web page', async () => {
  const securityOf = ({ method, path }: (typeof ROUTES)[number]): readonly string[] =>
    (document.paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()].security ?? []).flatMap(Object.keys)
  const bed = await openTestBed()
  const token = await bed.adminLogin()
  const cookie = { cookie: `${bed.authenticator.cookie.name}=${token}`, 'spout-page': '1' }
  let asked = 0
  for (const known of ROUTES) {
    const taken = known.access === 'anyone' ? [] : known.ofSession ? ['session'] : ['token', 'session']
    expect([known.method, known.path, securityOf(known)]).toEqual([known.method, known.path, taken])
    // An answer that stays open tells no more; to log out would end the token.
    if (known.method === 'DELETE' || known.path === '/events' || taken.length === 0) continue
    const url = `/api/v1${known.path.replaceAll(/:\w+/g, 'none')}`
    const { status } = await bed.ask(known.method, url, null, known.method === 'GET' ? undefined : {}, cookie)
    expect([known.method, known.path, status]).toEqual([
      known.method,
      known.path,
      expect.toSatisfy((code: number) => code !== 401),
    ])
    asked++
  }
  expect(asked).toBeGreaterThan(60)
  const { securitySchemes } = document.components
  expect(securitySchemes.session).toMatchObject({ type: 'apiKey', in: 'cookie', name: '__Host-spout-session' })
  expect(securitySchemes.session.description).toContain(bed.authenticator.cookie.name)
  await bed.close()
})
