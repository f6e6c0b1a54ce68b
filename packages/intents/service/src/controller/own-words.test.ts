import { Refused } from '@spout/client/native-api'
import { reasonOf } from '@spout/connector'
import { expect, test } from 'vitest'
import { inOwnWords } from './own-words.ts'

test.each([
  [
    'vips[0].address',
    'Field vips[0].address: address 192.0.2.7 is already in use',
    'spec.loadBalancerIP',
    'address 192.0.2.7 is already in use',
  ],
  [
    'put[0].address',
    'Field put[0].address: 10.9.0.1 is in none of the networks of this project',
    'endpoints',
    '10.9.0.1 is in none of the networks of this project',
  ],
  [
    'pools[0].members[3].address',
    'Field pools[0].members[3].address: 127.0.0.1 is not allowed: loopback',
    'endpoints',
    '127.0.0.1 is not allowed: loopback',
  ],
  ['listeners[1].allowedCidrs[0]', 'Field listeners[1].allowedCidrs[0]: no', 'spec.loadBalancerSourceRanges', 'no'],
  ['listeners[1].port', 'Field listeners[1].port: no', 'spec.ports', 'no'],
  [
    null,
    'Quota for loadBalancers is 1, 1 in use, 1 more wanted',
    'load balancer',
    'Quota for loadBalancers is 1, 1 in use, 1 more wanted',
  ],
])('%s is refused under the field that the user of the Service set', (field, message, own, reason) => {
  expect(inOwnWords(new Refused('Word', message, field))).toEqual({ reason: 'Word', field: own, message: reason })
})

test('an address that an annotation requested is refused under the name of that annotation', () => {
  const refused = new Refused('AddressTaken', 'Field vips[0].address: taken', 'vips[0].address')
  expect(inOwnWords(refused, 'metadata.annotations[x]').field).toBe('metadata.annotations[x]')
})

test('no field is named twice', () => {
  expect(reasonOf('vips[0].address: Field vips[0].address: taken')).toBe('taken')
  expect(reasonOf('Field a: Field b: taken')).toBe('taken')
  expect(reasonOf('The store is full')).toBe('The store is full')
})
