import { expect, it } from 'vitest'
import { addressProblems, claimProblems, conflictsOf, fabricProblems } from './address-problems.ts'

const conflict = (index: number) => ({
  address: `192.0.2.${index}`,
  mac: '02:00:00:00:00:99',
  since: '2026-01-01T00:00:00.000Z',
})

it('names the claimant of an address', () => {
  expect(addressProblems([])).toEqual([])
  expect(addressProblems([conflict(1)])).toEqual([
    {
      code: 'AddressClaimed',
      message:
        '192.0.2.1 is claimed by 02:00:00:00:00:99 too, since 2026-01-01T00:00:00.000Z. The node keeps it and announces it again, at most every 10 s.',
    },
  ])
})

it('leaves out addresses that moved to another node, and nothing else', () => {
  const all = [conflict(1), conflict(2), conflict(3), conflict(4), conflict(5)]
  const owned = [
    { address: '192.0.2.1', ownerNodeId: 'here' },
    { address: '192.0.2.2', ownerNodeId: 'there' },
    // One of a group that elects the owner itself, and one that two tenants have.
    { address: '192.0.2.3', ownerNodeId: null },
    { address: '192.0.2.4', ownerNodeId: 'there' },
    { address: '192.0.2.4', ownerNodeId: 'here' },
  ]
  expect(conflictsOf('here', all, owned)).toEqual([conflict(1), conflict(3), conflict(4), conflict(5)])
  expect(conflictsOf('there', all, owned)).toEqual([conflict(2), conflict(3), conflict(4), conflict(5)])
  expect(conflictsOf('here', [], owned)).toEqual([])
})

it('counts conflicts that would fill a page', () => {
  const problems = addressProblems(Array.from({ length: 100 }, (_, index) => conflict(index)))
  expect(problems).toHaveLength(6)
  expect(problems.at(-1)?.message).toBe('So are 95 further addresses of the node.')
})

it('reports a lost fabric address, if there was one', () => {
  expect(fabricProblems('192.0.2.1', true)).toEqual([
    {
      code: 'FabricAddressLost',
      message: 'Its fabric interface is gone or has no address any more: it had 192.0.2.1.',
    },
  ])
  expect(fabricProblems('192.0.2.1', false)).toEqual([])
  expect(fabricProblems(null, true)).toEqual([])
})

it('says that an address is not taken for the node although it reports it', () => {
  expect(claimProblems('192.0.2.1', '10.0.0.9')).toEqual([
    {
      code: 'FabricAddressRefused',
      message:
        "It reports 10.0.0.9 as its own address, but 192.0.2.1 is taken for it: 10.0.0.9 may be somebody else's. If it is the node's, set network.fabricCidrs, or fabricAddress of the node.",
    },
  ])
  for (const [taken, reported] of [
    ['192.0.2.1', '192.0.2.1'],
    // Another problem tells that a node's address is not known.
    [null, '192.0.2.1'],
    ['192.0.2.1', null],
  ] as const)
    expect(claimProblems(taken, reported)).toEqual([])
})
