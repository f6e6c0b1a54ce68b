import { describe, expect, it } from 'vitest'
import { domainNames } from '../domain/domain-names.ts'
import { domainTables, rootTable } from './tables.ts'

const config = { instance: 'spt', fabricInterface: 'fab0' }
const names = domainNames(config, 7)
const OWN = '02:00:00:00:00:0a'
const frontEnds = [
  { address: '198.51.100.17', port: 80 },
  { address: '198.51.100.16', port: 443 },
  { address: '198.51.100.16', port: 80 },
  { address: '198.51.100.16', port: 80 },
  { address: '2001:db8:f::10', port: 80 },
]
const both = { first: true, next: true }
const NONE = { first: [], next: [] }
const outside = { fabric: frontEnds, tenant: [] }
const tenant = [
  { address: '10.0.0.100', port: 80 },
  { address: 'fd01::100', port: 80 },
]
const inside = { first: ['fd01::250', '10.0.0.250'], next: ['10.0.0.251'] }

describe('the tables of a domain', () => {
  it.each([
    ['domain-first', { first: true, next: false }],
    ['domain-next', { first: false, next: true }],
    ['domain-both', both],
  ])('%s', async (name, hops) => {
    const text = domainTables(names, outside, hops, NONE, 300)
      .map((table) => table.text)
      .join('')
    await expect(text).toMatchFileSnapshot(`testdata/${name}.nft`)
  })

  it('lead over the segment to the nodes that have an address there', async () => {
    const text = domainTables(names, { fabric: frontEnds, tenant }, both, inside, 300)
      .map((table) => table.text)
      .join('')
    await expect(text).toMatchFileSnapshot('testdata/domain-inner.nft')
  })

  it('send on what belongs to no flow where members answer the node that has the address now', async () => {
    const shared = ['10.0.0.249', 'fd01::249']
    const none = { fabric: [], tenant: [] }
    const text = domainTables(names, { ...none, flows: { fabric: frontEnds, tenant }, shared }, both, inside, 300)
      .map((table) => table.text)
      .join('')
    await expect(text).toMatchFileSnapshot('testdata/domain-flows.nft')
    const [ip] = domainTables(names, { ...none, byGateway: true }, both, inside, 300)
    await expect(ip?.text ?? '').toMatchFileSnapshot('testdata/domain-gateway.nft')
  })

  it('are none without a hop, and none for a family without front ends', () => {
    const families = (some: Parameters<typeof domainTables>[1], hops = both, at: typeof inside | typeof NONE = NONE) =>
      domainTables(names, some, hops, at, 300).map(({ family }) => family)
    expect(families(outside, { first: false, next: false })).toEqual([])
    expect(families({ fabric: [], tenant: [] })).toEqual([])
    expect(families({ fabric: frontEnds.slice(0, 1), tenant: [] })).toEqual(['ip'])
    expect(families({ fabric: [], tenant })).toEqual([])
    expect(families({ fabric: [], tenant }, both, inside)).toEqual(['ip', 'ip6'])
    expect(families({ fabric: [], tenant }, { first: false, next: true }, inside)).toEqual(['ip'])
  })

  it('are the same whatever the order of the front ends', () => {
    const marks = [frontEnds, frontEnds.toReversed()].map((some) =>
      domainTables(names, { fabric: some, tenant: [] }, both, NONE, 300).map(({ mark }) => mark),
    )
    expect(marks[0]).toEqual(marks[1])
  })
})

describe('the table of the root namespace', () => {
  const uplinks = [
    { number: 7, link: 'sptu7', addresses: ['2001:db8:f::10', '198.51.100.17', '198.51.100.16', '198.51.100.16'] },
    { number: 9, link: 'sptu9', addresses: ['198.51.100.30'] },
  ]

  it('sends for each domain what is for its own addresses', async () => {
    const { text } = rootTable(config, uplinks, { first: '02:00:00:00:00:01', next: '02:00:00:00:00:02' }, OWN)
    await expect(text).toMatchFileSnapshot('testdata/root.nft')
  })

  it('changes with a hardware address', () => {
    const marks = ['02:00:00:00:00:01', '02:00:00:00:00:03'].map(
      (first) => rootTable(config, uplinks, { first, next: null }, OWN).mark,
    )
    expect(marks[0]).not.toBe(marks[1])
  })
})
