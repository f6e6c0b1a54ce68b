import { expect, it } from 'vitest'
import { randomSecret } from './random-secret.ts'

it('never begins with a hyphen, which command lines take for an option', () => {
  const drawn = Array.from({ length: 5_000 }, () => randomSecret(32))
  expect(drawn.filter((secret) => !/^\w[\w-]{42}$/.test(secret))).toEqual([])
  expect(new Set(drawn).size).toBe(drawn.length)
})

it('is as long as its bytes need', () => {
  expect(randomSecret(18)).toHaveLength(24)
})
