import type { Progress } from '@spout/connector'
import type { Condition } from '@spout/kube'
import type { Serving } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { CONTROLLER_NAME } from '../objects/names.ts'
import { gatewayWith, http, routeWith, serviceOf, surroundingsOf, to } from '../testing/objects.ts'
import { compileGateway } from '../to-model/gateways/compile-gateway.ts'
import { routeOutcomes } from '../to-model/gateways/route-outcome.ts'
import { classStatus } from './class-status.ts'
import { gatewayStatus } from './gateway-status.ts'
import { routeParents } from './route-status.ts'

const NOW = '2026-03-01T00:00:00Z'
const EARLIER = '2026-02-01T00:00:00Z'
const said = (conditions: readonly Condition[] = []) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

const RESOLVED = { ResolvedRefs: 'True ResolvedRefs' }

describe('Gateways', () => {
  const surroundings = surroundingsOf()
  const programmed: Progress = { type: 'programmed', notice: null }
  const statusOf = (gateway: ReturnType<typeof gatewayWith>, progress: Progress = programmed) =>
    gatewayStatus(gateway, compileGateway(gateway, [], surroundings), { progress, addresses: ['198.51.100.10'] }, NOW)

  test('with what its nodes confirm', () => {
    const status = statusOf(gatewayWith([http('web')], {}, 7))
    expect(status.addresses).toEqual([{ type: 'IPAddress', value: '198.51.100.10' }])
    expect(said(status.conditions)).toEqual({ ...RESOLVED, Accepted: 'True Accepted', Programmed: 'True Programmed' })
    expect(said(status.listeners[0]?.conditions)).toEqual({
      Accepted: 'True Accepted',
      Conflicted: 'False NoConflicts',
      ResolvedRefs: 'True ResolvedRefs',
      Programmed: 'True Programmed',
    })
    const all = [...status.conditions, ...(status.listeners[0]?.conditions ?? [])]
    expect(new Set(all.map(({ observedGeneration }) => observedGeneration))).toEqual(new Set([7]))
  })

  test('whether somebody answers, with the message of the moment when that changed', () => {
    const gateway = gatewayWith([http('web')])
    const compiled = compileGateway(gateway, [], surroundings)
    const told = (
      { state, reason, up }: { state: Serving['state']; reason: Serving['reason']; up: number },
      before: typeof gateway = gateway,
      progress: Progress = programmed,
    ) => {
      const serving = { state, reason, message: `${up} of 3 answer.`, membersUp: up, members: 3 }
      return gatewayStatus(before, compiled, { progress, addresses: [], serving }, NOW)
    }
    const servingOf = ({ conditions }: ReturnType<typeof told>) => {
      const found = conditions.find(({ type }) => type === 'spout.dev/Serving')
      return found && `${found.status} ${found.reason}: ${found.message}`
    }
    const first = told({ state: 'partly', reason: 'MembersDown', up: 2 })
    expect(servingOf(first)).toBe('True MembersDown: 2 of 3 answer.')
    const shown = { ...gateway, status: first }
    expect(servingOf(told({ state: 'partly', reason: 'MembersDown', up: 1 }, shown))).toBe(servingOf(first))
    expect(servingOf(told({ state: 'no', reason: 'AllMembersDown', up: 0 }, shown))).toBe(
      'False AllMembersDown: 0 of 3 answer.',
    )
    const pending: Progress = { type: 'pending', reason: 'x', message: 'x' }
    expect(servingOf(told({ state: 'no', reason: 'AllMembersDown', up: 0 }, shown, pending))).toBeUndefined()
  })

  test('pools without room for all endpoints, until they have it', () => {
    const gateway = gatewayWith([http('web')])
    const crowded = { reason: 'EndpointsLeftOut', field: 'spec', message: 'No room.' }
    const compiled = compileGateway(gateway, [], surroundings)
    const outcome = { progress: programmed, addresses: [] }
    const many = { ...compiled, crowded: Array.from({ length: 25 }, () => crowded) }
    const status = gatewayStatus(gateway, many, outcome, NOW)
    const [told] = status.conditions.filter(({ type }) => type === 'spout.dev/AllEndpoints')
    expect(told).toMatchObject({ status: 'False', reason: 'EndpointsLeftOut' })
    expect(told?.message).toMatch(/^spec: No room\. .*And 5 more\.$/)
    const after = gatewayStatus({ ...gateway, status }, compiled, outcome, NOW)
    expect(said(after.conditions)['spout.dev/AllEndpoints']).toBeUndefined()
  })

  test('names that cannot be published, until they can', () => {
    const gateway = gatewayWith([http('web')])
    const refused = { reason: 'NameRefused', field: 'spec', message: 'No.' }
    const compiled = compileGateway(gateway, [], surroundings)
    const outcome = { progress: programmed, addresses: [], nameNotices: [refused] }
    const status = gatewayStatus(gateway, compiled, outcome, NOW)
    expect(said(status.conditions)['spout.dev/DnsNames']).toBe('False NameRefused')
    expect(said(statusOf({ ...gateway, status }).conditions)).toEqual({
      ...RESOLVED,
      Accepted: 'True Accepted',
      Programmed: 'True Programmed',
    })
  })

  test.each([
    ['wait', { type: 'pending', reason: 'WaitingForNode', message: 'x' }, 'False Pending', 'False Pending'],
    ['fail', { type: 'failed', reason: 'NoNode', message: 'x' }, 'False NoResources', 'False Pending'],
    [
      'have no address',
      { type: 'refused', refusal: { reason: 'x', field: 'spec.addresses', message: 'z' } },
      'False AddressNotAssigned',
      'False Pending',
    ],
    [
      'are more than the quota',
      { type: 'refused', refusal: { reason: 'OverQuota', field: 'spec', message: 'z' } },
      'False NoResources',
      'False Pending',
    ],
  ] as const)('that %s are accepted and not programmed', (_, progress, own, ofListener) => {
    const status = statusOf(gatewayWith([http('web')]), progress)
    expect(said(status.conditions)).toEqual({ ...RESOLVED, Accepted: 'True Accepted', Programmed: own })
    expect(said(status.listeners[0]?.conditions)['Programmed']).toBe(ofListener)
  })

  test('a static address that is refused is not usable', () => {
    const gateway = gatewayWith([http('web')], { addresses: [{ value: '198.51.100.9' }] })
    const refused: Progress = { type: 'refused', refusal: { reason: 'x', field: 'spec.addresses', message: 'z' } }
    expect(said(statusOf(gateway, refused).conditions)['Programmed']).toBe('False AddressNotUsable')
  })

  test('listeners that are not valid: said on the Gateway, which serves the others', () => {
    const gateway = gatewayWith([http('web'), http('odd', { port: 81, protocol: 'odd' })])
    const { conditions, listeners } = statusOf(gateway)
    expect(said(conditions)).toEqual({ ...RESOLVED, Accepted: 'True ListenersNotValid', Programmed: 'True Programmed' })
    expect(said(listeners[1]?.conditions)).toMatchObject({
      Accepted: 'False UnsupportedProtocol',
      Programmed: 'False Invalid',
    })
    expect(said(statusOf(gatewayWith([http('a'), http('b')])).conditions)['Accepted']).toBe('False ListenersNotValid')
  })

  test('times stay while statuses do, and conditions of others stay', () => {
    const foreign = {
      type: 'x.org/Seen',
      status: 'True',
      reason: 'Seen',
      message: '',
      lastTransitionTime: EARLIER,
    } as const
    const before = statusOf(gatewayWith([http('web')]))
    const known = {
      ...before,
      conditions: [...before.conditions.map((one) => ({ ...one, lastTransitionTime: EARLIER })), foreign],
    }
    const gateway = { ...gatewayWith([http('web')]), status: known }
    expect(statusOf(gateway).conditions).toEqual(known.conditions)
    const changed = statusOf(gateway, { type: 'pending', reason: 'x', message: 'x' }).conditions
    expect(changed.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ['Accepted', EARLIER],
      ['Programmed', NOW],
      ['ResolvedRefs', EARLIER],
      ['x.org/Seen', EARLIER],
    ])
  })
})

describe('routes', () => {
  const gateway = gatewayWith([http('web')])
  const surroundings = surroundingsOf([serviceOf('a')])
  const outcomes = (spec: object) =>
    routeOutcomes(
      routeWith(spec),
      (key) => (key === 'shop/web' ? gateway : null),
      surroundings,
      () => [],
      () => [],
    )
  const parents = (spec: object) => routeParents(routeWith(spec), outcomes(spec), NOW)
  const bad = { filters: [{ type: 'ExtensionRef' }] }

  test.each([
    [
      'attached and resolved',
      { rules: [{ backendRefs: [to('a')] }] },
      { Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs' },
    ],
    [
      'attached with a missing backend',
      { rules: [{ backendRefs: [to('x')] }] },
      { Accepted: 'True Accepted', ResolvedRefs: 'False BackendNotFound' },
    ],
    [
      'not attached',
      { parentRefs: [{ name: 'web', sectionName: 'x' }], rules: [] },
      { Accepted: 'False NoMatchingParent', ResolvedRefs: 'True ResolvedRefs' },
    ],
    [
      'with one rule dropped',
      { rules: [bad, { backendRefs: [to('a')] }] },
      { Accepted: 'True Accepted', ResolvedRefs: 'True ResolvedRefs', PartiallyInvalid: 'True UnsupportedValue' },
    ],
    [
      'with all rules dropped',
      { rules: [bad] },
      { Accepted: 'False UnsupportedValue', ResolvedRefs: 'True ResolvedRefs' },
    ],
  ])('%s', (_, spec, conditions) => {
    const [own] = parents(spec)
    expect(own).toMatchObject({ controllerName: CONTROLLER_NAME })
    expect(said(own?.conditions)).toEqual(conditions)
  })

  test('the message about dropped rules begins as the API asks', () => {
    const [own] = parents({ rules: [{ backendRefs: [to('a')] }, bad] })
    expect(own?.conditions?.find(({ type }) => type === 'PartiallyInvalid')?.message).toMatch(/^Dropped Rule 1: /)
  })

  test('parents that are not our Gateways get nothing; entries of other controllers stay, ours that are gone go', () => {
    const foreign = { parentRef: { name: 'other' }, controllerName: 'x.org/c', conditions: [] }
    const stale = { parentRef: { name: 'old' }, controllerName: CONTROLLER_NAME, conditions: [] }
    const spec = { parentRefs: [{ name: 'other' }, { name: 'web' }], rules: [{ backendRefs: [to('a')] }] }
    const route = { ...routeWith(spec), status: { parents: [stale, foreign] } }
    const made = routeParents(route, outcomes(spec), NOW)
    expect(made.map(({ parentRef, controllerName }) => [parentRef.name, controllerName])).toEqual([
      ['other', 'x.org/c'],
      ['web', CONTROLLER_NAME],
    ])
    expect(made[0]).toBe(foreign)
  })
})

test('a class is accepted with its features, sorted; of parameters a class of load balancers alone is taken', () => {
  const one = { metadata: { name: 'spout', generation: 2 }, spec: { controllerName: CONTROLLER_NAME } }
  const status = classStatus(one, NOW)
  expect(said(status?.conditions)).toEqual({ Accepted: 'True Accepted' })
  const names = (status?.supportedFeatures ?? []).map(({ name }) => name)
  expect(names).toContain('HTTPRoute')
  expect(names).toEqual(names.toSorted())
  const asked = { ...one, spec: { ...one.spec, parametersRef: { group: '', kind: 'ConfigMap', name: 'x' } } }
  expect(said(classStatus(asked, NOW)?.conditions)).toEqual({ Accepted: 'False InvalidParameters' })
  const parametersRef = { group: 'spout.dev', kind: 'LoadBalancerClass', name: 'gold' }
  const withParameters = (more: object) =>
    said(classStatus({ ...one, spec: { ...one.spec, parametersRef: { ...parametersRef, ...more } } }, NOW)?.conditions)
  expect(withParameters({})).toEqual({ Accepted: 'True Accepted' })
  expect(withParameters({ namespace: 'shop' })).toEqual({ Accepted: 'False InvalidParameters' })
})
