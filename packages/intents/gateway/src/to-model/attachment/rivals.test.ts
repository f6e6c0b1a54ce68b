import { uidOf } from '@spout/connector'
import { expect, test } from 'vitest'
import { grpcRouteWith, routeWith } from '../../testing/objects.ts'
import { rivalsRefused } from './rivals.ts'

const at = (route: ReturnType<typeof routeWith> | ReturnType<typeof grpcRouteWith>) => ({ route, hosts: ['a.x.org'] })

test.each([
  ['the younger one', { name: 'a', createdAt: '2026-01-02T00:00:00Z' }, { name: 'b' }, 'http'],
  ['of the same age, the second by name', { name: 'a' }, { name: 'b' }, 'grpc'],
  ['of the same age and name, that of the second kind', { name: 'a' }, { name: 'a' }, 'http'],
])('of two rivals %s is refused, in whichever order they come', (_, http, grpc, refused) => {
  const [one, other] = [routeWith({}, { ...http, number: 1 }), grpcRouteWith({}, { ...grpc, number: 2 })]
  const uid = uidOf(refused === 'http' ? one : other)
  expect([...rivalsRefused([at(one), at(other)]).keys()]).toEqual([uid])
  expect([...rivalsRefused([at(other), at(one)]).keys()]).toEqual([uid])
})
