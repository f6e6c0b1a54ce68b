import type { CheckSpec, MemberHealth } from '@spout/model'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { recordFault } from '@spout/testkit'
import { describe, expect, it } from 'vitest'
import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import { PROBE_LIMITS } from './probe-gate.ts'
import { type ProbeSubscriber, probesOf, type WantedProbe } from './probe-plan.ts'
import { Prober, type ProberOptions } from './prober.ts'

const spec: CheckSpec = { type: 'tcp', intervalMs: 1_000, timeoutMs: 500, rise: 2, fall: 2, http: null }
const who = (memberId: string, poolId = 'p', loadBalancerId = 'lb'): ProbeSubscriber => ({
  loadBalancerId,
  poolId,
  memberId,
})
const probe = (subscriber: ProbeSubscriber, change: Partial<CheckTarget> = {}): WantedProbe => ({
  subscriber,
  target: { domain: 1, address: '10.0.0.1', port: 80, spec, ...change },
  owner: change.domain ?? 1,
})

/** A check whose answers and duration the test decides. */
class ScriptedCheck implements HealthCheck {
  readonly type = 'tcp'
  readonly down = new Set<string>()
  readonly #clock: FakeClock
  durationMs = 1
  /** By address. */
  readonly slow = new Map<string, number>()
  runs: string[] = []
  running = 0
  mostRunning = 0
  broken = false

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  async run({ address }: CheckTarget): Promise<CheckResult> {
    this.runs.push(address)
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    await new Promise<void>((resolve) => this.#clock.setTimer(resolve, this.slow.get(address) ?? this.durationMs))
    this.running--
    if (this.broken) throw new Error('the helper is gone')
    const ok = !this.down.has(address)
    return { ok, reason: ok ? null : 'connection refused', durationMs: this.durationMs }
  }
}

function setUp(change: Partial<ProberOptions> = {}) {
  const clock = new FakeClock()
  const check = new ScriptedCheck(clock)
  const changes: MemberHealth[] = []
  const log = { debug: () => {}, info: () => {}, warn: () => {} }
  const prober = new Prober({
    checks: [check],
    log,
    clock,
    random: () => 0.5,
    onChange: (changed) => changes.push(...changed),
    ...change,
  })
  return { clock, check, changes, prober }
}

describe('Prober', () => {
  it('probes an endpoint once for all subscribers, and notifies each', async () => {
    const { clock, check, changes, prober } = setUp()
    check.down.add('10.0.0.1')
    prober.put('lb/1', [probe(who('m1', 'p1')), probe(who('m2', 'p2'))])
    prober.put('lb/2', [probe(who('m3', 'p3', 'other'))])
    expect(prober.size).toBe(1)
    expect(changes.map(({ memberId, health }) => [memberId, health])).toEqual([
      ['m1', 'unknown'],
      ['m2', 'unknown'],
      ['m3', 'unknown'],
    ])
    changes.length = 0
    await clock.advance(600)
    expect(check.runs).toHaveLength(1)
    expect(changes.map(({ memberId, health, reason }) => [memberId, health, reason])).toEqual([
      ['m1', 'down', 'connection refused'],
      ['m2', 'down', 'connection refused'],
      ['m3', 'down', 'connection refused'],
    ])
    expect(prober.down('lb/1')).toEqual(new Set(['m1', 'm2']))
    expect(prober.down('lb/2')).toEqual(new Set(['m3']))
  })

  it('lets unknown members take traffic, decides by the first result, then by rise and fall', async () => {
    const { clock, check, prober } = setUp()
    prober.put('lb/1', [probe(who('m1'))])
    expect(prober.down('lb/1').size).toBe(0)
    await clock.advance(600)
    expect(prober.health('lb/1')).toMatchObject([{ health: 'up' }])
    check.down.add('10.0.0.1')
    await clock.advance(1_000)
    expect(prober.down('lb/1').size).toBe(0)
    await clock.advance(1_000)
    expect(prober.down('lb/1')).toEqual(new Set(['m1']))
    check.down.clear()
    await clock.advance(1_000)
    expect(prober.down('lb/1').size).toBe(1)
    await clock.advance(1_000)
    expect(prober.down('lb/1').size).toBe(0)
    expect(check.runs).toHaveLength(5)
  })

  it('does not restart when subscribers come and go, and ends with the last', async () => {
    const { clock, check, prober } = setUp()
    prober.put('lb/1', [probe(who('m1'))])
    await clock.advance(400)
    prober.put('lb/2', [probe(who('m2', 'p', 'other'))])
    prober.remove('lb/1')
    await clock.advance(150)
    expect(check.runs).toHaveLength(1)
    prober.put('lb/3', [probe(who('m3', 'p', 'third'))])
    expect(prober.health('lb/3')).toMatchObject([{ memberId: 'm3', health: 'up' }])
    prober.remove('lb/2')
    prober.remove('lb/3')
    expect(prober.size).toBe(0)
    await clock.advance(5_000)
    expect(check.runs).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  it('says which members it probes no more', () => {
    const { prober } = setUp()
    expect(prober.put('lb/1', [probe(who('m1')), probe(who('m2'), { port: 81 })])).toEqual([])
    // Another interval is another probe of the same member, and another pool may have the member, too.
    const slower = { spec: { ...spec, intervalMs: 5_000 } }
    expect(prober.put('lb/1', [probe(who('m1'), slower), probe(who('m2', 'q'), { port: 81 })])).toEqual([])
    expect(prober.put('lb/1', [probe(who('m1'), slower)])).toEqual([who('m2', 'q')])
    expect(prober.put('lb/1', [])).toEqual([who('m1')])
    expect(prober.put('lb/1', [])).toEqual([])
  })

  it('never overlaps itself, however slow the target', async () => {
    const { clock, check, prober } = setUp()
    check.durationMs = 3_500
    prober.put('lb/1', [probe(who('m1'))])
    await clock.advance(20_000)
    expect(check.mostRunning).toBe(1)
    expect(check.runs.length).toBe(6)
  })

  it('runs at most the maximum at a time, and reaches all', async () => {
    const { clock, check, prober } = setUp({ limits: { ...PROBE_LIMITS, most: 3, ownShare: 3 } })
    check.durationMs = 10
    const many = Array.from({ length: 20 }, (_, index) => probe(who(`m${index}`), { address: `10.0.0.${index}` }))
    prober.put('lb/1', many)
    await clock.advance(900)
    expect(check.mostRunning).toBe(3)
    expect(new Set(check.runs).size).toBe(20)
    prober.put('lb/1', many.slice(0, 5))
    await clock.advance(5_000)
    expect(check.running).toBe(0)
  })

  it('detects a dead member as quickly beside another tenant whose members never answer, also once those are gone', async () => {
    const { clock, check, prober } = setUp()
    const silent = Array.from({ length: 10_000 }, (_, index) =>
      probe(who(`s${index}`, 'silent', 'other'), { domain: 2, address: '10.0.0.250', port: index + 1 }),
    )
    check.slow.set('10.0.0.250', 60_000)
    prober.put('lb/other', silent)
    await clock.advance(5_000)
    const dies = async (): Promise<number> => {
      check.down.delete('10.0.0.1')
      prober.put('lb/1', [probe(who('m1'))])
      await clock.advance(3_000)
      expect(prober.health('lb/1')).toMatchObject([{ health: 'up' }])
      check.down.add('10.0.0.1')
      const since = clock.monotonicMs()
      while (prober.health('lb/1')[0]?.health !== 'down') await clock.advance(50)
      prober.remove('lb/1')
      return clock.monotonicMs() - since
    }
    // Two failures in a row, a second apart.
    const bound = 2 * spec.intervalMs + 50
    expect(await dies()).toBeLessThanOrEqual(bound)
    prober.remove('lb/other')
    expect(await dies()).toBeLessThanOrEqual(bound)
    prober.close()
  })

  it('counts all networks of a project together: the places of others do not become fewer with its networks', async () => {
    const { clock, check, prober } = setUp({ limits: { ...PROBE_LIMITS, most: 20, mostOfOwner: 10, ownShare: 4 } })
    check.slow.set('10.0.0.250', 3_600_000)
    const silent = Array.from({ length: 100 }, (_, at) => ({
      ...probe(who(`s${at}`, 'silent', 'other'), { domain: 2 + (at % 10), address: '10.0.0.250', port: at + 1 }),
      owner: 'greedy',
    }))
    prober.put('lb/silent', silent)
    await clock.advance(2_000)
    expect(check.running).toBe(10)
    prober.put('lb/1', [{ ...probe(who('m1')), owner: 'quiet' }])
    await clock.advance(2_000)
    expect(prober.health('lb/1')).toMatchObject([{ health: 'up' }])
    prober.close()
  })

  it('frees the place of a probe at once when it is no longer wanted', async () => {
    const { clock, check, prober } = setUp({ limits: { ...PROBE_LIMITS, most: 1, ownShare: 1, mostOfOwner: 1 } })
    check.slow.set('10.0.0.250', 3_600_000)
    prober.put('lb/silent', [probe(who('s'), { address: '10.0.0.250' })])
    await clock.advance(1_000)
    prober.remove('lb/silent')
    prober.put('lb/1', [probe(who('m1'))])
    await clock.advance(1_500)
    expect(prober.health('lb/1')).toMatchObject([{ health: 'up' }])
  })

  it('ignores a probe that could not be made', async () => {
    const { clock, check, prober } = setUp()
    prober.put('lb/1', [probe(who('m1'))])
    await clock.advance(600)
    check.broken = true
    await clock.advance(10_000)
    expect(prober.health('lb/1')).toMatchObject([{ health: 'up', reason: null }])
    check.broken = false
    check.down.add('10.0.0.1')
    await clock.advance(3_000)
    expect(prober.health('lb/1')).toMatchObject([{ health: 'down' }])
  })

  it('keeps a member down over a change of its interval, and over a restart', async () => {
    const { clock, check, prober } = setUp()
    check.down.add('10.0.0.1')
    prober.put('lb/1', [probe(who('m1'))])
    await clock.advance(600)
    const [before] = prober.health('lb/1')
    prober.put('lb/1', [probe(who('m1'), { spec: { ...spec, intervalMs: 5_000 } })])
    expect(prober.health('lb/1')).toEqual([before])
    const { prober: next } = setUp({ saved: JSON.parse(JSON.stringify(prober.save())) })
    next.put('lb/1', [probe(who('m1'), { spec: { ...spec, intervalMs: 5_000 } }), probe(who('m2'), { port: 81 })])
    expect(next.health('lb/1')).toMatchObject([before, { memberId: 'm2', health: 'unknown' }])
  })

  it('leaves endpoints unknown without a check for them', () => {
    const { prober } = setUp()
    prober.put('lb/1', [probe(who('m1'), { spec: { ...spec, type: 'ping' } })])
    expect(prober.size).toBe(0)
    expect(prober.down('lb/1').size).toBe(0)
  })
})

describe('members that flap', () => {
  const MEMBERS = 1_000
  /** Counts changes of health within 20 s, while each second half of the members go down and come back. */
  async function verdicts(count: number, rise: number, fall: number): Promise<number> {
    const { clock, check, changes, prober } = setUp()
    const address = (index: number) => `10.1.${index >> 8}.${index & 255}`
    const wanted = Array.from({ length: count }, (_, index) =>
      probe(who(`m${index}`), { address: address(index), spec: { ...spec, rise, fall } }),
    )
    prober.put('lb/1', wanted)
    await clock.advance(990)
    changes.length = 0
    for (let second = 0; second < 20; second++) {
      for (let index = 0; index < count; index += 2)
        if (second % 2 === 0) check.down.add(address(index))
        else check.down.delete(address(index))
      await clock.advance(1_000)
    }
    prober.close()
    let seen = 0
    const last = new Map<string, MemberHealth['health']>()
    for (const { memberId, health } of changes) {
      if (health !== (last.get(memberId) ?? 'up')) seen++
      last.set(memberId, health)
    }
    return seen
  }

  it('every second do not change their health with fall and rise of 3, and do with 1', async () => {
    expect(await verdicts(100, 1, 1)).toBeGreaterThan(100)
    const seen = await verdicts(MEMBERS, 3, 3)
    expect(seen).toBe(0)
    recordFault({
      fault: `${MEMBERS / 2} of ${MEMBERS} members flap each second, rise and fall 3`,
      outcome: 'no verdict changes, so nothing is told to the proxy or the packet path',
      figure: `${seen} verdicts in 20 s`,
    })
  })
})

describe('probesOf', () => {
  const member = {
    id: 'm1',
    address: '10.0.0.1',
    port: 80,
    weight: 1,
    backup: false,
    checkAddress: '10.0.0.9',
    checkPort: 81,
  }
  it('asks for the check address of every member of a pool with a check', () => {
    const pool = {
      id: 'p',
      number: 1,
      mode: 'l4',
      algorithm: 'round-robin',
      sourceAffinity: false,
      proxyProtocol: 'none',
      slots: null,
      panicThreshold: 0,
    } as const
    const entry: LoadBalancerEntry = {
      kind: 'load-balancer',
      version: 1,
      key: 'lb/lb',
      id: 'lb',
      generation: 1,
      domain: 4,
      vips: [],
      services: [],
      pools: [
        { ...pool, members: [member, null], check: spec },
        { ...pool, id: 'q', members: [member], check: null },
      ],
    }
    const wanted = probe(who('m1'), { domain: 4, address: '10.0.0.9', port: 81 })
    expect(probesOf(entry, null)).toEqual([wanted])
    expect(probesOf(entry, 'project')).toEqual([{ ...wanted, owner: 'project' }])
  })
})

describe('a probe', () => {
  it('never starts later than its interval', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const { clock, check, prober } = setUp({ random: () => random })
      prober.put('lb/1', [probe(who('m1'))])
      await clock.advance(1_000)
      for (let turn = 0; turn < 20; turn++) {
        const before = check.runs.length
        await clock.advance(spec.intervalMs)
        expect(check.runs.length).toBeGreaterThan(before)
      }
      expect(check.runs.length).toBeLessThan(25)
    }
  })

  it('that was late because the machine was stalled is ignored, once', async () => {
    const { clock, check, prober } = setUp()
    prober.put('lb/1', [probe(who('m1'), { spec: { ...spec, fall: 1 } })])
    await clock.advance(600)
    expect(prober.record('lb/1', 'm1')).toEqual({ successes: 1, inRow: 1 })
    check.down.add('10.0.0.1')
    check.durationMs = spec.timeoutMs + 300
    await clock.advance(1_700)
    expect(prober.down('lb/1').size).toBe(0)
    // The probe is repeated at once. A second stall in a row counts as a failure.
    expect(check.runs).toHaveLength(3)
    await clock.advance(900)
    expect(prober.down('lb/1')).toEqual(new Set(['m1']))
    expect(prober.record('lb/1', 'm1')).toEqual({ successes: 1, inRow: 0 })
    expect(prober.record('lb/1', 'other')).toBeNull()
  })
})
