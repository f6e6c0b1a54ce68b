import { expect, test } from 'vitest'
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
