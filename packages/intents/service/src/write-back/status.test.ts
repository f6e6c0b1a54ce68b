import type { Condition } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { service } from '../testing/objects.ts'
import { addressRequestOf } from '../to-model/address-request.ts'
import { portsOf, portTaken } from '../to-model/ports.ts'
import { answeringOf } from './answering.ts'
import { eventsOf } from './events.ts'
import { type StatusInput, shows, statusOf } from './status.ts'

const one = service('web', { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })
const requestOf = (of = one) => {
  const request = addressRequestOf(of)
  if ('refusal' in request) throw new Error()
  return request.value
}
const [http] = portsOf(one, 'direct', new Set(['tcp']))
const fine = [{ port: http!, error: null, message: null }]
const NOW = '2026-01-01T00:00:00Z'
const status = (input: Partial<StatusInput> = {}) =>
  statusOf({
    service: one,
    request: requestOf(),
    addresses: ['198.51.100.7', '2001:db8::7'],
    ports: fine,
    progress: { type: 'programmed', notice: null },
    now: NOW,
    ...input,
  })

describe('what a Service shows', () => {
  test('addresses in the order of its families, with ipMode', () => {
    expect(status().ingress).toEqual([
      { ip: '198.51.100.7', ipMode: 'VIP' },
      { ip: '2001:db8::7', ipMode: 'VIP' },
    ])
    const six = service('web', { ipFamilies: ['IPv6'] })
    expect(status({ service: six, request: requestOf(six) }).ingress).toEqual([{ ip: '2001:db8::7', ipMode: 'VIP' }])
  })

  test('where the load balancer ends TLS or adds a PROXY header, kube-proxy is told to lead pods through it', () => {
    const shown = status({ ipMode: 'Proxy' })
    expect(shown.ingress.map(({ ipMode }) => ipMode)).toEqual(['Proxy', 'Proxy'])
    expect(shows({ ...one, status: { loadBalancer: { ingress: shown.ingress } } }, status())).toBe(false)
  })

  test('none while a family is missing that it requires; one is enough where it prefers two', () => {
    expect(status({ addresses: ['198.51.100.7'] }).ingress).toEqual([])
    const prefers = service('web', { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' })
    expect(status({ request: requestOf(prefers), addresses: ['198.51.100.7'] }).ingress).toHaveLength(1)
  })

  test('one port that cannot be served: all ports are listed, the error beside that one', () => {
    const taken = portTaken(one, service('other', {}, { namespace: 'secret' }))
    const ports = [...fine, { port: { ...http!, port: 81, key: 'tcp/81' as const }, ...taken }]
    const { ingress, conditions } = status({ ports })
    expect(ingress[0]?.ports).toEqual([
      { port: 80, protocol: 'TCP' },
      { port: 81, protocol: 'TCP', error: 'spout.dev/PortTaken' },
    ])
    expect(conditions.map(({ type, status: state }) => [type, state])).toEqual([
      ['spout.dev/Programmed', 'True'],
      ['LoadBalancerPortsError', 'True'],
    ])
    expect(JSON.stringify(conditions)).not.toContain('secret')
  })

  test('whether endpoints answer, apart from whether it is programmed; one reason each', () => {
    const down = { state: 'no', reason: 'AllMembersDown', membersUp: 0, members: 2 } as const
    const first = answeringOf({ ...down, message: '0 of 2 members answer. Down: 10.1.0.1:80 (refused).' }, false)
    const programmed = ['spout.dev/Programmed', 'True', 'Programmed']
    const words = ({ conditions }: ReturnType<typeof statusOf>) =>
      conditions.map(({ type, status: state, reason }) => [type, state, reason])
    const shown = status({ answering: first })
    expect(words(shown)).toEqual([programmed, ['spout.dev/Serving', 'False', 'AllMembersDown']])
    const after = { ...one, status: { loadBalancer: { ingress: shown.ingress }, conditions: shown.conditions } }
    // A message about other members with the same meaning is not written.
    const other = answeringOf({ ...down, message: '0 of 2 members answer. Down: 10.1.0.2:80 (refused).' }, false)
    expect(shows(after, status({ service: after, answering: other }))).toBe(true)
    const none = answeringOf({ ...down, reason: 'NoMembers', message: '' }, false)
    expect(words(status({ service: after, answering: none }))[1]).toEqual(['spout.dev/Serving', 'False', 'NoEndpoints'])
    // While the Service is not programmed, the condition is absent.
    const pending = { type: 'pending', reason: 'WaitingForNode', message: '' } as const
    expect(words(status({ answering: first, progress: pending }))).toEqual([
      ['spout.dev/Programmed', 'False', 'WaitingForNode'],
    ])
  })

  test('an event when no endpoint answers, and when one does again; none when all is well from the start', () => {
    const fails = answeringOf({ state: 'no', reason: 'NoMembers', message: '', membersUp: 0, members: 0 }, false)
    const works = answeringOf({ state: 'yes', reason: 'Serving', message: '', membersUp: 1, members: 1 }, false)
    const failing = status({ answering: fails })
    const serves = { action: 'ServeClients' }
    expect(eventsOf([], failing)).toMatchObject([{ ...serves, type: 'Warning', reason: 'NoEndpoints' }])
    expect(eventsOf(failing.conditions, failing)).toEqual([])
    expect(eventsOf(failing.conditions, status({ answering: works }))).toMatchObject([{ ...serves, type: 'Normal' }])
    expect(eventsOf([], status({ answering: works }))).toEqual([])
  })

  test('Services that share an address learn nothing of each other’s endpoints', () => {
    const secret = '1 of 2 members answers. Down: 10.9.9.9:80 (refused).'
    const serving = { state: 'partly', reason: 'MembersDown', message: secret, membersUp: 1, members: 2 } as const
    expect(answeringOf(serving, true).message).not.toContain('10.9.9.9')
    expect(answeringOf(serving, false).message).toContain('10.9.9.9')
  })

  test('a request that cannot be read keeps what is there', () => {
    const before = { ...one, status: { loadBalancer: { ingress: [{ ip: '198.51.100.7' }, { ip: '192.0.2.1' }] } } }
    const refusal = { reason: 'InvalidAddress', field: 'f', message: 'm' }
    expect(status({ service: before, request: null, progress: { type: 'refused', refusal } }).ingress).toEqual([
      { ip: '198.51.100.7' },
    ])
  })

  test('a status that is already shown is not written: times and other conditions do not count', () => {
    const wanted = status()
    const foreign: Condition = {
      type: 'other/Thing',
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: NOW,
    }
    const shown = {
      ...one,
      status: { loadBalancer: { ingress: wanted.ingress }, conditions: [foreign, ...wanted.conditions] },
    }
    expect(shows(shown, wanted)).toBe(true)
    expect(shows({ ...shown, status: { ...shown.status, conditions: [foreign] } }, wanted)).toBe(false)
    const later = status({ service: shown, now: '2026-02-02T00:00:00Z' })
    expect(later.conditions[0]?.lastTransitionTime).toBe(NOW)
  })

  test('events tell why something is refused, not that it waits or works', () => {
    const refused = status({
      progress: { type: 'refused', refusal: { reason: 'PoolNotFound', field: 'f', message: 'm' } },
    })
    expect(eventsOf([], refused)).toEqual([
      { type: 'Warning', reason: 'PoolNotFound', action: 'BalanceService', note: 'f: m' },
    ])
    expect(eventsOf(refused.conditions, refused)).toEqual([])
    expect(eventsOf(refused.conditions, status())).toEqual([])
    const waits = status({ progress: { type: 'pending', reason: 'WaitingForNode', message: '' } })
    expect(eventsOf([], waits, 'waits')).toEqual([])
  })
})
