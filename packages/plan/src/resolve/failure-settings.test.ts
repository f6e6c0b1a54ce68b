import { describe, expect, it } from 'vitest'
import { planPool } from '../node-state/node-pool.ts'
import { id, listener, member, pool } from '../testing/documents.ts'
import { failureProblems } from './failure-settings.ts'

const passiveCheck = { on: 'connection', failures: 5, holdSeconds: 10, maxDownPercent: 50 } as const
const response = { ...passiveCheck, on: 'response' } as const

const meta = { id: id(9), name: '', description: '', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null }

describe('failureProblems', () => {
  it.each([
    ['http', { protocol: 'http', passiveCheck: response, resetOnDown: true }, []],
    ['tcp-proxy', { protocol: 'tcp-proxy', passiveCheck }, []],
    ['tcp-proxy', { protocol: 'tcp-proxy', passiveCheck: response }, [['InvalidField', 'pools[0].passiveCheck.on']]],
    ['l4', { protocol: 'tcp', passiveCheck }, [['Unsupported', 'pools[0].passiveCheck']]],
    ['l4', { protocol: 'tcp', resetOnDown: true, slowStartSeconds: 30, drainSeconds: 0 }, []],
    ['l4', { protocol: 'udp', resetOnDown: true }, [['InvalidField', 'pools[0].resetOnDown']]],
    ['l4', { protocol: 'sctp', resetOnDown: true }, [['InvalidField', 'pools[0].resetOnDown']]],
  ] as const)('a pool of mode %s with %j: %j', (mode, fields, problems) => {
    const found = [...failureProblems(pool(1, [], fields), mode, 'pools[0]')]
    expect(found.map(({ code, params }) => [code, params.field])).toEqual(problems)
  })

  it.each([
    ['udp', 'sctp'],
    ['sctp', 'tcp'],
    ['sctp', 'udp'],
  ] as const)('of a probe by %s at members that speak %s', (type, other) => {
    const monitor = { ...meta, type, intervalMs: 1000, timeoutMs: 500, rise: 1, fall: 1, http: null } as const
    const fields = (protocol: 'udp' | 'tcp' | 'sctp') => ({
      protocol,
      monitor: { ...monitor, tags: [], enabled: true },
    })
    expect([...failureProblems(pool(1, [member(2)], fields(type)), 'l4', 'pools[0]')]).toEqual([])
    expect([...failureProblems(pool(1, [member(2)], fields(other)), 'l4', 'pools[0]')]).toMatchObject([
      { params: { field: 'pools[0].monitor.type' } },
    ])
  })

  it('of a probe over TCP at members that speak SCTP there', () => {
    const of = (type: 'tcp' | 'ping', monitorPort: number | null) => {
      const monitor = { ...meta, tags: [], enabled: true, type, http: null }
      const times = { intervalMs: 1000, timeoutMs: 500, rise: 1, fall: 1 }
      const members = [member(2, { monitorPort: 8080 }), member(3, { monitorPort })]
      return [...failureProblems(pool(1, members, { protocol: 'sctp', monitor: { ...monitor, ...times } }), 'l4', 'p')]
    }
    expect(of('ping', null)).toEqual([])
    expect(of('tcp', 8081)).toEqual([])
    expect(of('tcp', null)).toMatchObject([{ code: 'InvalidField', params: { field: 'p.members[1].monitorPort' } }])
  })
})

describe('planPool', () => {
  const planned = (fields: Parameters<typeof pool>[2]) =>
    planPool(
      { listeners: [listener(4, 80, { defaultPoolId: id(1) })] },
      pool(1, [member(2)], fields),
      7,
      null,
      () => null,
    ).node ?? {}

  it('contains only settings that differ from the defaults', () => {
    expect(planned({})).not.toMatchObject({ drainMs: expect.anything() })
    expect(Object.keys(planned({}))).not.toContain('slowStartMs')
    expect(planned({ slowStartSeconds: 30, drainSeconds: 0, resetOnDown: true, passiveCheck })).toMatchObject({
      slowStartMs: 30_000,
      drainMs: 0,
      resetOnDown: true,
      passive: { on: 'connection', failures: 5, holdMs: 10_000, maxDownPercent: 50 },
    })
  })
})
