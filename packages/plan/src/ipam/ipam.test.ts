import { formatIp, parseIp, parseIpRange } from '@spout/net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressIndex } from './address-index.ts'
import { nodeSpace, poolSpace, spaceSize, subnetSpace } from './address-space.ts'
import { allocateAddress, allocateNodeAddress, describeFree } from './allocate.ts'
import { NumberRuns } from './number-runs.ts'

const poolOf = (first: string, last: string) =>
  poolSpace({ id: 'p', name: 'public', ranges: [{ first, last }], cidr: '192.0.2.0/24', gatewayIp: '192.0.2.1' })
const subnetOf = (cidr: string, gatewayIp: string | null, nodeRange: readonly [string, string] | null) => ({
  cidr,
  gatewayIp,
  nodeRange: nodeRange && { first: nodeRange[0], last: nodeRange[1] },
})
const texts = (space: { readonly ranges: readonly { version: 4 | 6; first: bigint; last: bigint }[] }): string[] =>
  space.ranges.map(
    ({ version, first, last }) => `${formatIp({ version, value: first })}-${formatIp({ version, value: last })}`,
  )

describe('NumberRuns', () => {
  it('is a set that finds its gaps', () => {
    const edit = fc.record({ add: fc.boolean(), value: fc.bigInt(0n, 40n) })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 200 }), fc.bigInt(0n, 40n), fc.bigInt(0n, 40n), (edits, a, b) => {
        const runs = new NumberRuns()
        const model = new Set<bigint>()
        for (const { add, value } of edits) {
          expect(add ? runs.add(value) : runs.delete(value)).toBe(model.has(value) !== add)
          if (add) model.add(value)
          else model.delete(value)
        }
        const [first, last] = a < b ? [a, b] : [b, a]
        const within = Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index))
        const missing = within.filter((value) => !model.has(value))
        expect(runs.size).toBe(model.size)
        expect(runs.lowestMissing(first, last)).toBe(missing[0] ?? null)
        expect(runs.highestMissing(first, last)).toBe(missing.at(-1) ?? null)
        expect(runs.countWithin(first, last)).toBe(BigInt(within.length - missing.length))
        for (const value of within) expect(runs.has(value)).toBe(model.has(value))
      }),
    )
  })
})

describe('address spaces', () => {
  it.each([
    ['a pool without its gateway and ends', poolOf('192.0.2.0', '192.0.2.255'), ['192.0.2.2-192.0.2.254'], 253n],
    [
      'a subnet without gateway and ends',
      subnetSpace(subnetOf('10.0.0.0/29', '10.0.0.3', null)),
      ['10.0.0.1-10.0.0.2', '10.0.0.4-10.0.0.6'],
      5n,
    ],
    [
      'a subnet without its node range',
      subnetSpace(subnetOf('10.0.0.0/28', '10.0.0.1', ['10.0.0.10', '10.0.0.14'])),
      ['10.0.0.2-10.0.0.9'],
      8n,
    ],
    ['a point-to-point subnet', subnetSpace(subnetOf('10.0.0.0/31', null, null)), ['10.0.0.0-10.0.0.1'], 2n],
    [
      'an IPv6 subnet without its anycast address',
      subnetSpace(subnetOf('2001:db8::/126', null, null)),
      ['2001:db8::1-2001:db8::3'],
      3n,
    ],
    [
      'a node range',
      nodeSpace(subnetOf('10.0.0.0/28', '10.0.0.12', ['10.0.0.10', '10.0.0.15'])),
      ['10.0.0.10-10.0.0.11', '10.0.0.13-10.0.0.14'],
      4n,
    ],
  ])('%s', (_what, space, ranges, size) => {
    expect(texts(space)).toEqual(ranges)
    expect(spaceSize(space)).toBe(size)
  })
})

describe('allocateAddress', () => {
  const space = poolOf('192.0.2.10', '192.0.2.12')
  const ask = (index: AddressIndex, address: string | null, nowMs = 0, projectId = 'a') =>
    allocateAddress(space, index, {
      address: address === null ? null : parseIp(address),
      projectId,
      nowMs,
      field: 'address',
    })
  const got = (allocation: ReturnType<typeof ask>): string =>
    'ip' in allocation ? formatIp(allocation.ip) : allocation.problem.code

  it('takes the lowest free address, until none is left', () => {
    const index = new AddressIndex()
    index.put(parseIp('192.0.2.10'), null)
    index.hold(parseIp('192.0.2.11'))
    expect(got(ask(index, null))).toBe('192.0.2.12')
    index.put(parseIp('192.0.2.12'), null)
    expect(ask(index, null)).toEqual({
      problem: { code: 'AddressPoolExhausted', params: { pool: 'public', size: '3' } },
    })
    expect(describeFree(space, index, 0)).toBe('Address pool public has 0 of 3 addresses free')
    index.unhold(parseIp('192.0.2.11'))
    expect(got(ask(index, null))).toBe('192.0.2.11')
  })
  it.each([
    ['192.0.2.10', 'AddressTaken'],
    ['192.0.2.11', '192.0.2.11'],
    ['192.0.2.13', 'AddressOutsideSubnet'],
  ])('asked for %s answers %s', (address, answer) => {
    const index = new AddressIndex()
    index.put(parseIp('192.0.2.10'), null)
    expect(got(ask(index, address))).toBe(answer)
  })
  it('reports an address that is set aside', () => {
    const wide = poolOf('192.0.2.0', '192.0.2.12')
    const request = { address: parseIp('192.0.2.1'), projectId: 'a', nowMs: 0, field: 'address' }
    expect(allocateAddress(wide, new AddressIndex(), request)).toMatchObject({ problem: { code: 'AddressForbidden' } })
  })
  it('keeps addresses in quarantine from others, and gives a project its own back if nothing else is free', () => {
    const index = new AddressIndex()
    for (const [address, projectId] of [
      ['192.0.2.10', 'b'],
      ['192.0.2.11', 'a'],
    ] as const)
      index.put(parseIp(address), { projectId, untilMs: 1000 })
    index.put(parseIp('192.0.2.12'), null)
    expect(got(ask(index, null))).toBe('192.0.2.11')
    expect(got(ask(index, '192.0.2.10'))).toBe('AddressTaken')
    expect(got(ask(index, '192.0.2.10', 0, 'b'))).toBe('192.0.2.10')
    expect(got(ask(index, null, 1000))).toBe('192.0.2.10')
  })
  it('gives nodes the last addresses, except those to avoid', () => {
    const index = new AddressIndex()
    const nodes = nodeSpace(subnetOf('10.0.0.0/29', '10.0.0.1', null))
    const avoid = (ip: { readonly value: bigint }): boolean => ip.value === parseIp('10.0.0.6').value
    expect(formatIp(allocateNodeAddress(nodes, index, avoid, 0)!)).toBe('10.0.0.5')
    expect(index.isFreeFor(parseIp('10.0.0.6'), null, 0)).toBe(true)
  })

  it('never gives an address to two owners, over any history', () => {
    const PROJECTS = ['a', 'b']
    const step = fc.record({
      do: fc.constantFrom('take', 'take', 'take-exactly', 'release', 'wait'),
      project: fc.constantFrom(...PROJECTS),
      pick: fc.nat(11),
    })
    const range = parseIpRange('192.0.2.10-192.0.2.21')
    const small = { ...space, whole: [range], ranges: [range] }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const index = new AddressIndex()
        const taken = new Map<string, string>()
        const resting = new Map<string, { readonly project: string; readonly untilMs: number }>()
        let nowMs = 0
        for (const { do: what, project, pick } of steps) {
          if (what === 'wait') nowMs += 40
          else if (what === 'release') {
            const [address, owner] = [...taken][pick % Math.max(1, taken.size)] ?? []
            if (address === undefined || owner === undefined) continue
            taken.delete(address)
            resting.set(address, { project: owner, untilMs: nowMs + 100 })
            index.put(parseIp(address), { projectId: owner, untilMs: nowMs + 100 })
          } else {
            const address = what === 'take' ? null : { version: 4 as const, value: range.first + BigInt(pick) }
            const allocation = allocateAddress(small, index, { address, projectId: project, nowMs, field: 'address' })
            const mayHave = (text: string): boolean => {
              const rest = resting.get(text)
              return !taken.has(text) && (rest === undefined || rest.untilMs <= nowMs || rest.project === project)
            }
            if ('problem' in allocation) {
              const requested = address === null ? null : formatIp(address)
              const all = Array.from({ length: 12 }, (_, at) =>
                formatIp({ version: 4, value: range.first + BigInt(at) }),
              )
              expect((requested === null ? all : [requested]).some(mayHave)).toBe(false)
              continue
            }
            const text = formatIp(allocation.ip)
            expect(mayHave(text)).toBe(true)
            taken.set(text, project)
            resting.delete(text)
            index.put(allocation.ip, null)
          }
        }
      }),
    )
  })
})
