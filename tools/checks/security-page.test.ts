import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../dev/verb.ts'

const PAGE = path.join(ROOT, 'docs', 'security.md')
const rows = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => /^\| (S|F)\d+ \|/.test(line))
const numbered = (letter: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)

/** A link, the quoted names of tests right after it, which are in the linked file, and whether it prints a figure. */
const CITED = /\]\(([^)]+)\)((?:,? "[^"]+")*)( \([^)]*\bfigures?\))?/g

describe('docs/security.md', () => {
  test('has every row once, in order', () => {
    const names = rows.map((row) => row.split('|')[1]?.trim())
    expect(names).toEqual([...numbered('S', 26), ...numbered('F', 30)])
  })

  test.each(rows)('names tests that are there: %s', (row) => {
    for (const [, link = '', quoted = '', figure] of row.matchAll(CITED)) {
      const file = path.resolve(path.dirname(PAGE), link.split('#')[0] ?? '')
      expect(existsSync(file), link).toBe(true)
      const text = readFileSync(file, 'utf8')
      for (const [, name = ''] of quoted.matchAll(/"([^"]+)"/g)) expect(text, `${link}: ${name}`).toContain(name)
      if (figure !== undefined) expect(text, `${link} prints no figure`).toContain('recordFault(')
    }
  })

  test('a row without a test says so', () => {
    for (const row of rows.filter((each) => !each.includes('](')))
      expect(row).toMatch(/no test|none|not offered|no webhook|\.\/dev (check|bench)|no routes/i)
  })
})
