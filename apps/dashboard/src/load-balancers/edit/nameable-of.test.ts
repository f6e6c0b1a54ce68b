import { expect, it } from 'vitest'
import { nameableOf } from './nameable-of.ts'

it('a document names its own pools, certificates by their use, and subnets of its project', () => {
  const certificates = [
    { id: 'c1', name: 'shop', names: ['shop.example', 'www.shop.example'], use: 'keyed' as const },
    { id: 'c2', name: 'staff', names: [], use: 'users' as const },
  ]
  const networks = [
    { id: 'n', name: 'inner', subnets: [{ id: 's1', name: '', cidr: '10.0.0.0/24' }] },
    { id: 'm', name: '', subnets: [{ id: 's2', name: 'two', cidr: 'fd10::/64' }] },
  ]
  expect(nameableOf([{ id: undefined, name: 'web', protocol: 'http' }], certificates, networks)).toEqual({
    pool: [{ id: undefined, name: 'web', note: 'http' }],
    subnet: [
      { id: 's1', name: 'inner', note: '10.0.0.0/24' },
      { id: 's2', name: 'two', note: 'fd10::/64 of m' },
    ],
    keyed: [{ id: 'c1', name: 'shop', note: 'shop.example, www.shop.example' }],
    users: [{ id: 'c2', name: 'staff', note: '' }],
    ...{ authorities: [], revocations: [] },
  })
})
