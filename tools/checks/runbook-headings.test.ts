import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')

it('every section of the runbook that a finding of doctor or a problem of the API names is there', () => {
  const headings = new Set(
    readFileSync(path.join(ROOT, 'docs/runbook.md'), 'utf8')
      .matchAll(/^## (.+)$/gm)
      .map(([, heading]) => heading),
  )
  const files = globSync(
    ['{apps,packages}/*/src/**/doctor/**/*.ts', 'packages/server/src/native/overview/runbook.ts'],
    { cwd: ROOT },
  )
  const named = files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\b(?:runbook|section)\((['"])(.+?)\1\)/g)].map(
      ([, , heading]) => ({
        file,
        heading,
      }),
    ),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ heading }) => !headings.has(heading))).toEqual([])
})
