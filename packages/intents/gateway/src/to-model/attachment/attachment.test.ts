import { expect, test } from 'vitest'
import { gatewayWith, http, surroundingsOf } from '../../testing/objects.ts'
import { judgeParents } from '../listeners/listener-parents.ts'
import { attach } from './attachment.ts'

const from = (namespaces: object) => ({ allowedRoutes: { namespaces } }) as object
const team = (value: string) => ({ matchExpressions: [{ key: 'team', operator: 'In', values: [value] }] })
const listeners = [
  http('same', { hostname: 'same.com' }),
  http('all', { hostname: '*.all.com', ...from({ from: 'All' }) }),
  http('chosen', { port: 8080, ...from({ from: 'Selector', selector: team('red') }) }),
  http('none', { port: 8081, ...from({ from: 'None' }) }),
]
const parent = judgeParents(gatewayWith(listeners), surroundingsOf()).own
const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  red: { team: 'red' },
  blue: { team: 'blue' },
}

test.each([
  ['all listeners of its namespace', 'shop', {}, [], ['same', 'all']],
  ['by name', 'shop', { sectionName: 'all' }, ['x.all.com'], ['all']],
  ['by port', 'red', { port: 8080 }, [], ['chosen']],
  ['from another namespace', 'blue', {}, ['x.all.com'], ['all']],
  ['no such name', 'shop', { sectionName: 'other' }, [], 'NoMatchingParent'],
  ['a name with the port of another', 'shop', { sectionName: 'all', port: 8080 }, [], 'NoMatchingParent'],
  ['labels that are not selected', 'blue', { port: 8080 }, [], 'NotAllowedByListeners'],
  ['a namespace that was not seen', 'unseen', { port: 8080 }, [], 'NotAllowedByListeners'],
  ['a listener for nobody', 'shop', { port: 8081 }, [], 'NotAllowedByListeners'],
  ['names of no listener', 'shop', {}, ['x.org'], 'NoMatchingListenerHostname'],
])('attaches to %s', (_, namespace, ref, hostnames, expected) => {
  const made = attach(
    { kind: 'HTTPRoute', namespace, hostnames },
    { name: 'web', ...ref },
    parent,
    (name) => labels[name] ?? null,
  )
  expect(made.refused?.reason ?? made.listeners.map(({ judged }) => judged.listener.name)).toEqual(expected)
})

test('a Gateway without listeners of its own has none to attach to; it is not one that somebody disallows', () => {
  const { own } = judgeParents(gatewayWith([]), surroundingsOf())
  const made = attach({ kind: 'HTTPRoute', namespace: 'shop', hostnames: [] }, { name: 'web' }, own, () => null)
  expect(made.refused).toEqual({
    reason: 'NoMatchingParent',
    message: 'The Gateway has no listener of this sectionName and port.',
  })
})

test('a route of another kind is not allowed', () => {
  const route = { kind: 'TCPRoute', namespace: 'shop', hostnames: [] }
  const made = attach(route, { name: 'web' }, parent, () => null)
  expect(made.refused?.reason).toBe('NotAllowedByListeners')
})
