import { describe, expect, test } from 'vitest'
import { allowedMethods } from './allowed-methods.ts'
import { LBAAS_ROUTES, OCTAVIA_ROUTES } from './every-route.ts'
import { MOUNTS, OCTAVIA_MOUNTS } from './route.ts'

describe('the methods that a path takes', () => {
  test.each([
    ['/v2/lbaas/loadbalancers', ['GET', 'HEAD', 'POST']],
    ['/v2.0/loadbalancers/', ['GET', 'HEAD', 'POST']],
    ['/v2/loadbalancers.json', ['GET', 'HEAD', 'POST']],
    ['/v2.0/lbaas/loadbalancers/x', ['DELETE', 'GET', 'HEAD', 'PUT']],
    ['/v2/lbaas/loadbalancers/x.json', ['DELETE', 'GET', 'HEAD', 'PUT']],
    ['/v2/lbaas/loadbalancers/x/failover', ['PUT']],
    ['/v2/lbaas/pools/x/members', ['GET', 'HEAD', 'POST', 'PUT']],
    ['/v2/octavia/amphorae', ['GET', 'HEAD']],
    ['/v2/lbaas/amphorae', []],
    ['/v2/octavia/loadbalancers', []],
    ['/v3/lbaas/loadbalancers', []],
    ['/v2/lbaas/loadbalancers//failover', []],
    ['/v2/lbaas/loadbalancers/x/y/z', []],
    ['/v2/lbaasloadbalancers', []],
    ['', []],
  ])('%s', (path, methods) => {
    expect(allowedMethods(path)).toEqual(methods)
  })

  test('are known of every route', () => {
    for (const [mounts, routes] of [
      [MOUNTS, LBAAS_ROUTES],
      [OCTAVIA_MOUNTS, OCTAVIA_ROUTES],
    ] as const)
      for (const mount of mounts)
        for (const { path, method } of routes)
          expect(allowedMethods(`${mount}${path.replaceAll(/:\w+/g, 'x')}`)).toContain(method)
  })
})
