import { expect, it } from 'vitest'
import { backOffMs } from './back-off.ts'

it('tries again within 1.25 s while a restart may last, then less often', () => {
  expect(backOffMs(1, 0.5)).toBe(250)
  for (let failures = 1; failures <= 20; failures++) expect(backOffMs(failures, 1)).toBeLessThanOrEqual(1250)
  expect(backOffMs(21, 0.5)).toBe(2000)
  expect(backOffMs(1000, 0.5)).toBe(15_000)
})
