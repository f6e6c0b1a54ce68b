import type { Progress } from '@spout/connector'
import type { Condition } from '@spout/kube'
import { expect, test } from 'vitest'
import type { GatewayListener } from '../objects/gateway.ts'
import { gatewayWith, http, listener, routeWith, serviceOf, setWith, surroundingsOf, to } from '../testing/objects.ts'
import { compileGateway } from '../to-model/gateways/compile-gateway.ts'
import { attachedSets, listenerSetStatus, unservedStatus } from './listener-set-status.ts'

const NOW = '2026-03-01T00:00:00Z'
const programmed: Progress = { type: 'programmed', notice: null }
const said = (conditions: readonly Condition[] = []) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

const OWN = [http('own', { hostname: 'own.com' })]
const made = (
  listeners: readonly GatewayListener[],
  { own = OWN, from = 'Same', progress = programmed as Progress, spec = {} } = {},
) => {
  const set = setWith('more', listeners)
  const gateway = gatewayWith(own, { allowedListeners: { namespaces: { from } }, ...spec })
  const route = routeWith({
    parentRefs: [{ name: 'more', namespace: 'shop', kind: 'ListenerSet' }],
    rules: [{ backendRefs: [to('a')] }],
  })
  const compiled = compileGateway(gateway, [route], surroundingsOf([serviceOf('a')], [], {}, [set]))
  const status = listenerSetStatus(compiled.sets[0]!, gateway, compiled, { progress }, NOW)
  return { status, attached: attachedSets(compiled).length }
}

test('a set is programmed when the nodes have said so, with what each listener has', () => {
  const { status, attached } = made([http('web', { hostname: 'more.com' })])
  expect(attached).toBe(1)
  expect(said(status.conditions)).toEqual({ Accepted: 'True Accepted', Programmed: 'True Programmed' })
  expect(
    status.listeners.map(({ name, attachedRoutes, supportedKinds }) => [name, attachedRoutes, supportedKinds[0]?.kind]),
  ).toEqual([['web', 1, 'HTTPRoute']])
  expect(said(status.listeners[0]?.conditions)).toEqual({
    Accepted: 'True Accepted',
    Conflicted: 'False NoConflicts',
    ResolvedRefs: 'True ResolvedRefs',
    Programmed: 'True Programmed',
  })
  const waiting = made([http('web')], { progress: { type: 'pending', reason: 'WaitingForNode', message: 'x' } })
  expect(said(waiting.status.conditions)).toEqual({ Accepted: 'True Accepted', Programmed: 'False Pending' })
})

test('a listener that another one excludes says why; without any other the set is not accepted', () => {
  const odd = listener('odd', 'TCP', 80)
  const some = made([http('web', { hostname: 'more.com' }), odd])
  expect(some.attached).toBe(1)
  expect(said(some.status.conditions)).toEqual({ Accepted: 'True ListenersNotValid', Programmed: 'True Programmed' })
  expect(said(some.status.listeners[1]?.conditions)).toMatchObject({
    Accepted: 'False ProtocolConflict',
    Conflicted: 'True ProtocolConflict',
    Programmed: 'False ProtocolConflict',
  })
  const none = made([odd])
  expect(none.attached).toBe(0)
  const reason = 'False ListenersNotValid'
  expect(said(none.status.conditions)).toEqual({ Accepted: reason, Programmed: reason })
})

test.each([
  ['it is not allowed', { from: 'None' }, 'NotAllowed', []],
  ['the Gateway is not accepted', { spec: { addresses: [{ type: 'Hostname' }] } }, 'ParentNotAccepted', ['web']],
  ['no listener of the Gateway is valid', { own: [http('a'), http('b')] }, 'ParentNotAccepted', ['web']],
])('a set is not attached: %s', (_, options, reason, listeners) => {
  const { status, attached } = made([http('web', { port: 8080 })], options)
  expect(attached).toBe(0)
  expect(said(status.conditions)).toEqual({ Accepted: `False ${reason}`, Programmed: `False ${reason}` })
  expect(status.listeners.map(({ name }) => name)).toEqual(listeners)
  for (const one of status.listeners) expect(said(one.conditions)['Programmed']).toBe('False Pending')
})

test('without its Gateway a set is as nobody serves it', () => {
  const { status } = made([http('web')])
  expect(said(unservedStatus(status, 1, NOW).conditions)).toEqual({
    Accepted: 'Unknown Pending',
    Programmed: 'Unknown Pending',
  })
  expect(unservedStatus(status, 1, NOW).listeners).toEqual([])
})
