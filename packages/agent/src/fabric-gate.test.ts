import type { StateLine } from '@spout/client/agent-link'
import { NO_GROUP_PART } from '@spout/model/node-state'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FabricGate, type FabricVerdict, type GroupFabric, type NamedFabric } from './fabric-gate.ts'
import { domainEntry, loadBalancerEntry, putLine } from './testing/entries.ts'

const HERE: FabricVerdict = { state: 'here' }
const ELSEWHERE: FabricVerdict = { state: 'elsewhere' }
const MISSING: FabricVerdict = { state: 'missing', reason: 'the node has no interface edge0' }

const EDGE: NamedFabric = { interface: 'edge0' }
const group = (fabric: NamedFabric): StateLine => putLine({ ...NO_GROUP_PART, ...(fabric && { fabric }) })
const SYNCED: StateLine = { type: 'synced' }
const domain = putLine(domainEntry(1))
const shop = putLine(loadBalancerEntry('shop'))
const blog = putLine(loadBalancerEntry('blog'))
const vrrp = (source: string, peers: readonly string[] = ['198.51.100.3']) =>
  ({ source, peers, advertMs: 100, missedAdverts: 3, shards: [], yield: false }) as const
const signal = new AbortController().signal

/** A gate of an agent that works on the interface of its own settings, with its record. */
function gateWith(judge: (named: NamedFabric) => Promise<FabricVerdict>, more: Partial<GroupFabric> = {}) {
  const passed: StateLine[] = []
  const ends: string[] = []
  const fabric: GroupFabric = {
    composed: { named: null, verdict: HERE },
    judge,
    elsewhere: async () => null,
    onElsewhere: () => ends.push('elsewhere'),
    ...more,
  }
  const gate = new FabricGate(fabric, (lines) => passed.push(...lines))
  gate.begin()
  return { gate, passed, ends }
}
const turn = () => new Promise(setImmediate)

describe('FabricGate', () => {
  it('passes everything at once where no group names an interface', () => {
    const { gate, passed } = gateWith(() => Promise.reject(new Error('nobody asks')))
    const lines = [group(null), domain, shop, SYNCED]
    gate.take(lines)
    expect(passed).toEqual(lines)
  })

  it('passes the lines in order once the interface is known to be the one that the agent works on', async () => {
    const asked: NamedFabric[] = []
    const { gate, passed } = gateWith(async (named) => {
      asked.push(named)
      return HERE
    })
    gate.take([domain, group(EDGE), shop])
    gate.take([blog, SYNCED])
    expect(passed).toEqual([domain])
    await turn()
    expect(passed).toEqual([domain, group(EDGE), shop, blog, SYNCED])
    gate.take([group(EDGE)])
    expect(asked).toEqual([EDGE])
  })

  it('lets nothing of the group reach an agent that works on another interface, and says so once', async () => {
    const { gate, passed, ends } = gateWith(async () => ELSEWHERE)
    gate.take([domain, group(EDGE), shop, SYNCED])
    await turn()
    gate.begin()
    gate.take([group(EDGE), blog, SYNCED])
    await turn()
    expect(passed).toEqual([domain])
    expect(ends).toEqual(['elsewhere'])
  })

  it('brings no load balancer to a node without the interface, and leaves the group with the reason', async () => {
    const { gate, passed } = gateWith(async () => MISSING)
    const followed: unknown[] = []
    const wrapped = gate.follow({ follow: async (entry) => void followed.push(entry) })
    gate.take([group(EDGE), domain, shop, { type: 'delete', key: shop.entry.key }, SYNCED])
    await turn()
    expect(passed).toEqual([group(EDGE), domain, { type: 'delete', key: shop.entry.key }, SYNCED])
    expect(gate.missing).toBe('the node has no interface edge0')
    const following = wrapped.follow({ ...NO_GROUP_PART, fabric: { interface: 'edge0' } }, signal)
    await expect(following).rejects.toMatchObject({ name: 'FabricMissing', message: 'the node has no interface edge0' })
    expect(followed).toEqual([null])
    await wrapped.follow(null, signal)
  })

  it('says that it is elsewhere once an interface that was missing is there', async () => {
    const verdicts = [MISSING, MISSING, HERE]
    const { gate, ends } = gateWith(async () => verdicts.shift() ?? HERE)
    gate.take([group(EDGE), SYNCED])
    await turn()
    await gate.lookAgain()
    expect(ends).toEqual([])
    await gate.lookAgain()
    await gate.lookAgain()
    expect(ends).toEqual(['elsewhere'])
  })

  it('treats an interface that cannot be looked for as missing', async () => {
    const { gate } = gateWith(() => Promise.reject(new Error('no space left')))
    gate.take([group(EDGE), SYNCED])
    await turn()
    expect(gate.missing).toBe('no space left')
  })

  it.each<[string, readonly StateLine[]]>([
    ['whose group names nothing any more', [group(null)]],
    ['that is in no group any more', [{ type: 'delete', key: 'group' }]],
    ['whose full set has no group', [domain, SYNCED]],
  ])('gives back a node %s', async (_what, lines) => {
    const asked: NamedFabric[] = []
    const judge = async (named: NamedFabric) => {
      asked.push(named)
      return ELSEWHERE
    }
    const { gate, ends } = gateWith(judge, { composed: { named: EDGE, verdict: HERE } })
    gate.take(lines)
    await turn()
    expect([asked, ends]).toEqual([[null], ['elsewhere']])
  })

  it('takes no part while its neighbours know it by an address of another interface', async () => {
    const followed: unknown[] = []
    const elsewhere = async (address: string) => (address === '192.0.2.1' ? 'fab0' : null)
    const { gate } = gateWith(async () => HERE, { elsewhere })
    const { follow } = gate.follow({ follow: async (entry) => void followed.push(entry) })
    // Also after it came back from a group that named an interface.
    for (const fabric of [{ fabric: { interface: 'edge0' } }, {}]) {
      const entry = { ...NO_GROUP_PART, ...fabric }
      await expect(follow({ ...entry, vrrp: vrrp('192.0.2.1') }, signal)).rejects.toThrow(
        'its neighbours know it by 192.0.2.1, which is on fab0',
      )
      const known = { ...entry, vrrp: vrrp('198.51.100.1') }
      await follow(known, signal)
      expect(followed.splice(0)).toEqual([null, known])
    }
  })

  it('takes part all the same where it has no neighbours', async () => {
    const followed: unknown[] = []
    const { gate } = gateWith(async () => HERE, { elsewhere: async () => 'fab0' })
    const alone = { ...NO_GROUP_PART, vrrp: vrrp('192.0.2.1', []) }
    await gate.follow({ follow: async (entry) => void followed.push(entry) }).follow(alone, signal)
    expect(followed).toEqual([alone])
  })

  it('never brings a load balancer to another interface than that of the newest group, whatever comes when', async () => {
    const interfaces = fc.constantFrom<NamedFabric>(null, { interface: 'here' }, { interface: 'there' }, EDGE)
    const step = fc.oneof(
      interfaces.map((fabric) => group(fabric)),
      fc.constantFrom<StateLine | 'begin' | 'turn'>(shop, SYNCED, 'begin', 'turn'),
    )
    const verdicts = (named: NamedFabric): FabricVerdict => {
      if (named === null || named.interface === 'here') return HERE
      return named.interface === 'there' ? ELSEWHERE : MISSING
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        /** How many lines had passed when each stream began, and when each verdict came, also one of an earlier stream. */
        const begun: number[] = []
        const judged = new Map<number, FabricVerdict>()
        const { gate, passed } = gateWith(async (named) => {
          await turn()
          judged.set(passed.length, verdicts(named))
          return verdicts(named)
        })
        for (const one of steps) {
          if (one === 'begin') {
            begun.push(passed.length)
            gate.begin()
          } else if (one === 'turn') await turn()
          else gate.take([one])
        }
        for (let count = 0; count < 2 * steps.length; count++) await turn()
        let [newest, hasGroup]: [FabricVerdict, boolean] = [HERE, false]
        for (const [at, line] of passed.entries()) {
          if (begun.includes(at)) hasGroup = false
          newest = judged.get(at) ?? newest
          if (line.type === 'put' && line.entry.kind === 'group') {
            newest = verdicts(line.entry.fabric ?? null)
            hasGroup = true
          }
          // A full set without a group names no interface.
          if (line.type === 'synced' && !hasGroup) newest = HERE
          if (line === shop) expect(newest.state).toBe('here')
        }
      }),
      { numRuns: 200 },
    )
  })
})
