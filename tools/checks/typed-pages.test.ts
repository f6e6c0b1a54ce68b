import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { documentedBlocks } from '@spout/testkit/documented-blocks'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** Tests, and their labs, that type the commands of a page. */
const TYPING = globSync('{apps,e2e,packages}/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules/**', '**/testkit/**'] })
  .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
  .filter((text) => /\b(TypedPage|documentedCommands)\(|says to type, typed\b|\bRuns the commands of docs\//.test(text))

it('the commands of every page are typed by a test', () => {
  const pages = globSync('**/*.md', { cwd: path.join(ROOT, 'docs') }).filter((page) =>
    documentedBlocks(page, 'console').some(({ lines }) => lines.some((line) => line.startsWith('$ '))),
  )
  expect(pages).toContain('kubernetes.md')
  const untyped = pages.filter((page) => !TYPING.some((text) => text.includes(`'${page}'`)))
  expect(untyped).toEqual([])
})
