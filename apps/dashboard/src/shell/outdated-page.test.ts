import { expect, it } from 'vitest'
import { isOfAnotherBuild } from './outdated-page.ts'

const served = '<script type="module" crossorigin src="/ui/assets/index-b.js"></script>'

it('a document that starts another script is of another build', () => {
  expect(isOfAnotherBuild('/ui/assets/index-a.js', served)).toBe(true)
  expect(isOfAnotherBuild('/ui/assets/index-b.js', served)).toBe(false)
})
