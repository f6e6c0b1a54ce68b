import { LISTENER_PROTOCOLS, POOL_PROTOCOLS } from '@spout/model'
import { expect, it } from 'vitest'
import { bodyOf } from './body.ts'
import { loadBalancerClass } from './resources/load-balancer-classes.ts'
import { listener } from './resources/load-balancers.ts'
import { pool } from './resources/pools.ts'
import { addressPool } from './resources/system.ts'

it('puts each flag into its field, numbers as numbers, and omits absent flags', () => {
  const body = bodyOf(pool.fields, {
    protocol: 'http',
    check: 'http',
    checkIntervalMs: '500',
    checkPath: '/ok',
    output: 'table',
  })
  expect(body).toEqual({ protocol: 'http', monitor: { type: 'http', intervalMs: 500, http: { path: '/ok' } } })
})

it('leaves a number that is none for the server to refuse by its field', () => {
  expect(bodyOf(pool.fields, { rise: '2x' })).toEqual({ monitor: { rise: '2x' } })
})

it('refuses to take something away and set a part of it', () => {
  const flags = { dedicatedProxy: 'no', proxyMemoryMb: '64' }
  expect(() => bodyOf(loadBalancerClass.fields, flags)).toThrow(
    'dedicatedProxy cannot be removed and get memoryMegabytes at once',
  )
  expect(bodyOf(loadBalancerClass.fields, { ...flags, dedicatedProxy: 'yes' })).toEqual({
    dedicatedProxy: { memoryMegabytes: 64 },
  })
  expect(bodyOf(loadBalancerClass.fields, { dedicatedProxy: 'no' })).toEqual({ dedicatedProxy: null })
})

it('reads ranges', () => {
  const { ranges } = bodyOf(addressPool.fields, { ranges: '10.0.0.1-10.0.0.9,10.0.0.20' })
  expect(ranges).toEqual([
    { first: '10.0.0.1', last: '10.0.0.9' },
    { first: '10.0.0.20', last: '10.0.0.20' },
  ])
})

it('names every protocol in the help', () => {
  const protocols = (fields: typeof pool.fields) =>
    fields.find(({ field }) => field === 'protocol')?.description.split(/, | or /)
  expect(protocols(listener.fields)).toEqual(LISTENER_PROTOCOLS)
  expect(protocols(pool.fields)).toEqual(POOL_PROTOCOLS)
})

it.each([
  ['udp://10.0.0.5:514', { transport: 'udp', address: '10.0.0.5', port: 514 }],
  ['tcp://[fd10::5]:601', { transport: 'tcp', address: 'fd10::5', port: 601 }],
  ['udp://10.0.0.5', { transport: 'udp', address: '10.0.0.5' }],
  ['none', null],
])('sends access logs to %s', (accessLogTo, syslog) => {
  expect(bodyOf(listener.fields, { accessLog: 'common', accessLogTo })).toEqual({
    accessLog: { format: 'common', syslog },
  })
})

it.each(['10.0.0.5', 'udp://10.0.0.5:x', 'udp://', 'udp://[fd10::5:514'])(
  'refuses %s as who gets them',
  (accessLogTo) => {
    expect(() => bodyOf(listener.fields, { accessLogTo })).toThrow('must be like udp://10.0.0.5:514')
  },
)
