import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

// Issue 20: a reader who knows the field but not this code follows it without help, so it stays two pages.
const MOST_WORDS = 2350

it('ARCHITECTURE.md stays two pages', () => {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8')
  const shown = text.replaceAll(/\]\([^)]*\)/g, ']').split(/\s+/)
  expect(shown.length).toBeLessThanOrEqual(MOST_WORDS)
})
