import { memberOf, poolOf } from '@spout/testkit/model'
import { expect, test } from 'vitest'
import { network } from '../testing/documents.ts'
import { memberNetwork } from './member-network.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const NETWORK = network(1)
const inside = (host: number): string => `10.0.0.${host}`

const problemOf = (addresses: readonly string[]) => {
  const pool = poolOf(
    id(1),
    addresses.map((address, at) => memberOf(id(10 + at), address, 80)),
  )
  const found = memberNetwork({ pools: [pool], listeners: [] }, null, {
    networks: [NETWORK],
    currentNetworkId: null,
    forbidden: (ip) => (ip.value === 0x0afe_0001n ? 'a management address' : null),
    occupant: () => null,
  })
  return found !== null && 'problem' in found ? found.problem : null
}
const fieldsOf = (...places: readonly number[]) => places.map((at) => `pools[0].members[${at}].address`)

test('every address that is in no network is named, and no other', () => {
  expect(problemOf([inside(10), '192.0.2.1', inside(11), '10.254.0.1', '192.0.2.2'])).toMatchObject({
    code: 'MemberOutsideNetworks',
    params: { field: 'pools[0].members[1].address', address: '192.0.2.1' },
    fields: fieldsOf(1, 4),
  })
})

test('every forbidden address is named, where one is the first fault', () => {
  expect(problemOf(['10.254.0.1', '192.0.2.1', inside(10)])).toMatchObject({
    code: 'AddressForbidden',
    fields: fieldsOf(0),
  })
})

test('of thousands a thousand are named: an answer stays short', () => {
  const many = Array.from({ length: 3000 }, (_, at) => `192.0.${at >> 8}.${at & 255}`)
  expect(problemOf(many)?.fields).toHaveLength(1000)
})
