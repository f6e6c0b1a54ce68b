import { expect, it } from 'vitest'
import type { HttpRouteObject } from '../../objects/http-route.ts'
import type { ResolveBackend } from '../rules/route-kind.ts'
import { CompiledRoutes, compileRoute } from './compiled-routes.ts'

const LISTENER = { name: 'http', protocol: 'HTTP', port: 80 }
const HOSTS = ['shop.example.org']
const route: HttpRouteObject = {
  kind: 'HTTPRoute',
  metadata: { name: 'shop', namespace: 'shop', uid: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { rules: [{ backendRefs: [{ name: 'web', port: 80 }] }] },
}
const at =
  (port: number): ResolveBackend =>
  ({ name }) => ({ service: `shop/${name}`, port: { port, name: 'http', target: 8080 } as never, protocol: 'http' })
const missing: ResolveBackend = () => ({ unresolved: { reason: 'BackendNotFound', message: 'gone' } as never })

it('compiles as without it, and gives the same content while nothing of the route has changed', () => {
  const compiled = new CompiledRoutes()
  const first = compiled.compile(route, HOSTS, LISTENER, at(80))
  expect(first).toEqual(compileRoute(route, HOSTS, LISTENER, at(80)))
  // Neither the status nor the version is compared.
  const written = { ...route, metadata: { ...route.metadata, resourceVersion: '2' }, status: { parents: [] } }
  expect(compiled.compile(written, HOSTS, LISTENER, at(80))).toBe(first)
})

it('compiles again what has changed: the spec, the names, the listener, the object, or what a reference resolves to', () => {
  const compiled = new CompiledRoutes()
  const first = compiled.compile(route, HOSTS, LISTENER, at(80))
  const again: Parameters<typeof compiled.compile>[] = [
    [{ ...route, spec: structuredClone(route.spec) }, HOSTS, LISTENER, at(80)],
    [route, ['other.example.org'], LISTENER, at(80)],
    [route, HOSTS, { ...LISTENER, port: 81 }, at(80)],
    [{ ...route, metadata: { ...route.metadata, uid: 'b' } }, HOSTS, LISTENER, at(80)],
    [route, HOSTS, LISTENER, at(81)],
    [route, HOSTS, LISTENER, missing],
  ]
  for (const args of again) {
    const made = compiled.compile(...args)
    expect(made).not.toBe(first)
    expect(made).toEqual(compileRoute(...args))
  }
  const lost = compiled.compile(route, HOSTS, LISTENER, missing)
  expect(lost.unresolved?.reason).toBe('BackendNotFound')
})
