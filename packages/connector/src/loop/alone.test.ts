import { done, retryAfter } from '@spout/runtime'
import { expect, test } from 'vitest'
import { alone } from './alone.ts'
import { SHORTLY_MS } from './retries.ts'

test('who comes while another changes one of the load balancers comes again', async () => {
  const busy = new Map<string, string>()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = alone(busy, ['a', 'b'], 'first', async () => {
    await promise
    return done
  })
  const never = async () => expect.unreachable('it changed beside another')
  expect(await alone(busy, ['b', 'c'], 'second', never)).toEqual(retryAfter(SHORTLY_MS))
  resolve()
  expect(await first).toEqual(done)
  expect(await alone(busy, ['b'], 'second', async () => done)).toEqual(done)
})

test('an error ends the change', async () => {
  const busy = new Map<string, string>()
  await expect(alone(busy, ['a'], 'first', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(busy.size).toBe(0)
})
