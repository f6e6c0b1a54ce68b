import { type RouteContentInput, routeOf } from '@spout/connector'
import { whyUnusable } from '@spout/model/regex'
import { expect } from 'vitest'
import { DIRECTIVES } from '../../../../connector/src/testing/hostile-texts.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { RouteObject } from '../objects/route.ts'
import { type CompiledGateway, compileGateway, type GatewaySurroundings } from '../to-model/gateways/compile-gateway.ts'
import { gatewayStatus } from '../write-back/gateway-status.ts'
import { gatewayWith, http, routeWith, serviceOf, surroundingsOf, to } from './objects.ts'

/** A good route, and how it is served, whatever others write. */
export const surroundings = surroundingsOf([serviceOf('web')])
export const good = routeWith(
  { hostnames: ['good.example.org'], rules: [{ backendRefs: [to('web')] }] },
  { name: 'good', number: 3 },
)
/** The creation time of objects with hostile texts. The good route is older. */
export const young = { name: 'hostile', number: 4, createdAt: '2026-02-01T00:00:00Z' }

const routesOf = ({ wanted }: CompiledGateway) => wanted?.content.listeners[0]?.routes ?? []
const ofGood = (made: CompiledGateway) => routesOf(made).filter(({ name }) => name.startsWith(good.metadata.uid!))

/** Without the texts of expressions, which are never sent to nodes: these get the tables of an automaton. */
const shown = (content: unknown): string =>
  JSON.stringify(content, (_, value) => (value?.compare === 'regex' ? { ...value, values: [] } : value))

/** The API server accepts all conditions, and a terminal can show them safely. */
export function expectSayable(gateway: Gateway, made: CompiledGateway): void {
  const status = gatewayStatus(gateway, made, { progress: { type: 'programmed', notice: null }, addresses: [] }, NOW)
  const all = [...status.conditions, ...status.listeners.flatMap(({ conditions }) => conditions)]
  for (const { reason, message } of all) {
    expect(reason).toMatch(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    expect(message.length).toBeLessThanOrEqual(1024)
    expectPrintable(message)
  }
}

export function expectPrintable(message: string): void {
  expect(message).not.toMatch(/[^\x20-\x7e]/)
}

const NOW = '2026-03-01T00:00:00Z'

/**
 * The good route is served as if it were alone, no directive got through, and the control plane accepts the content.
 */
export function expectHarmless(gateway: Gateway, ...hostile: readonly RouteObject[]): void {
  expectHarmlessIn(surroundings, gateway, ...hostile)
}

export function expectHarmlessIn(
  around: GatewaySurroundings,
  gateway: Gateway,
  ...hostile: readonly RouteObject[]
): void {
  const made = compileGateway(gateway, [good, ...hostile], around)
  expect(ofGood(made)).toEqual(ofGood(compileGateway(gatewayWith([http('web')]), [good], surroundings)))
  expect(ofGood(made)).toHaveLength(1)
  const { pools, listeners } = made.wanted!.content
  expect(shown([pools, listeners.map((one) => ({ ...one, name: '' }))])).not.toMatch(DIRECTIVES)
  expect(shown(made.wanted)).not.toMatch(/[^\x20-\x7e]|\\[rntbfu]/)
  expectSayable(gateway, made)
  for (const route of routesOf(made)) {
    // In the form in which it is sent.
    expect(routeOf(JSON.parse(JSON.stringify(route)) as RouteContentInput, 'route')).toHaveProperty('value')
    for (const condition of route.conditions)
      if ('compare' in condition && condition.compare === 'regex')
        for (const expression of condition.values) expect(whyUnusable(expression, false)).toBeNull()
  }
}
