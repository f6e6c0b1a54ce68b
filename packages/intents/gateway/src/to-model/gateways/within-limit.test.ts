import { type ListenerContent, type RouteContent, uidOf } from '@spout/connector'
import { expect, test } from 'vitest'
import { routeWith } from '../../testing/objects.ts'
import { withinLimit } from './within-limit.ts'

const [oldest, middle, youngest] = ['2024', '2025', '2026'].map((year, at) =>
  routeWith({}, { name: `r${year}`, number: 10 + at, createdAt: `${year}-01-01T00:00:00Z` }),
) as [ReturnType<typeof routeWith>, ReturnType<typeof routeWith>, ReturnType<typeof routeWith>]
const objects = () => [youngest, oldest, middle]

const routes = (of: ReturnType<typeof routeWith>, count: number, pool: string): readonly RouteContent[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `${uidOf(of)}/${at}`,
    conditions: [],
    action: { type: 'forward', pools: [{ pool, weight: 1 }] },
  })) as unknown as readonly RouteContent[]
const last = { name: '404/', conditions: [], action: { type: 'respond', code: 404 } } as unknown as RouteContent
const listener = (...own: readonly (readonly RouteContent[])[]) =>
  ({
    name: 'l',
    protocol: 'http',
    port: 80,
    defaultPool: '',
    routes: [...own.flat(), last],
  }) as unknown as ListenerContent
const namesIn = (listeners: readonly ListenerContent[]) =>
  listeners.map(({ routes = [] }) => routes.map(({ name }) => name.split('/')[0]))

test('what fits stays as it is', () => {
  const listeners = [listener(routes(youngest, 2, 'a'), routes(oldest, 2, 'a'))]
  const made = withinLimit(listeners, objects, 5)
  expect(made.listeners).toBe(listeners)
  expect(made.beyond.size).toBe(0)
})

test('of more routes than a listener can have those of the oldest objects stay, all of an object or none', () => {
  const listeners = [
    listener(routes(youngest, 1, 'c'), routes(middle, 3, 'b'), routes(oldest, 2, 'a')),
    listener(routes(middle, 1, 'a')),
  ]
  const { listeners: left, beyond, unused } = withinLimit(listeners, objects, 4)
  expect([...beyond]).toEqual([uidOf(middle)])
  expect(namesIn(left)).toEqual([[uidOf(youngest), uidOf(oldest), uidOf(oldest), '404'], ['404']])
  expect([...unused]).toEqual(['b'])
})

test('one object with more than all the room is left out alone', () => {
  const { beyond } = withinLimit([listener(routes(oldest, 9, 'a'), routes(middle, 2, 'b'))], objects, 4)
  expect([...beyond]).toEqual([uidOf(oldest)])
})
