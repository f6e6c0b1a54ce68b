import { type Listener, listenerTls } from '@spout/model'
import { listenerOf, poolOf } from '@spout/testkit/model'
import { describe, expect, test } from 'vitest'
import { documentProblem } from './resolve.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const tls = listenerTls.parse({ certificateIds: [id(8)], alpn: [] })
const passing = (change: Partial<Listener> = {}) => listenerOf(id(1), 443, { protocol: 'tls-passthrough', ...change })
const ending = (change: Partial<Listener> = {}) => listenerOf(id(2), 443, { protocol: 'https', tls, ...change })

function problemOf(...listeners: readonly Listener[]): unknown {
  const pools = [poolOf(id(5), [], { protocol: 'tcp-proxy' })]
  const found = documentProblem({ listeners: [...listeners], pools }, { useOfCertificate: () => 'any' })
  return found === null ? null : [found.code, found.params.field]
}

describe('listeners of one port', () => {
  test('one may pass TLS on for its names, and one end it for others', () => {
    expect(problemOf(passing(), ending())).toBeNull()
    expect(problemOf(ending({ protocol: 'tls' }), passing())).toBeNull()
  })

  test('others exclude each other, and so do three', () => {
    const taken = (at: number) => ['PortTaken', `listeners[${at}].port`]
    expect(problemOf(ending(), ending({ id: id(3), protocol: 'tls' }))).toEqual(taken(1))
    expect(problemOf(passing(), passing({ id: id(3) }))).toEqual(taken(1))
    expect(problemOf(passing(), listenerOf(id(3), 443, { protocol: 'http' }))).toEqual(taken(1))
    expect(problemOf(passing(), ending(), ending({ id: id(3), protocol: 'tls' }))).toEqual(taken(2))
  })

  test('that share it have one limit, the same sources, and a way for what no route takes', () => {
    expect(problemOf(passing({ defaultPoolId: id(5) }), ending())).toEqual([
      ...['InvalidField', 'listeners[0].defaultPoolId'],
    ])
    expect(problemOf(passing(), ending({ connectionLimit: 5 }))).toEqual([
      ...['InvalidField', 'listeners[1].connectionLimit'],
    ])
    expect(problemOf(passing({ allowedCidrs: ['192.0.2.0/24'] }), ending())).toEqual([
      ...['InvalidField', 'listeners[1].allowedCidrs'],
    ])
    const both = { connectionLimit: 5, allowedCidrs: ['192.0.2.0/24'] }
    expect(problemOf(passing(both), ending(both))).toBeNull()
  })
})
