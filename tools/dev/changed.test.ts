import { expect, it } from 'vitest'
import { testsOf } from './changed.ts'

it('a change of the web page concerns the tests that open it', () => {
  const tests = testsOf(['apps/dashboard/src/main.tsx'])
  expect(tests).toContain('e2e/ui/web-page.e2e.test.ts')
  expect(tests).not.toContain('e2e/l4.e2e.test.ts')
})
