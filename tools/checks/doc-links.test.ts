import path from 'node:path'
import { expect, it } from 'vitest'
import { brokenLinks } from './doc-links.ts'

it('every link in the documents leads somewhere', () =>
  expect(brokenLinks(path.resolve(import.meta.dirname, '../..'))).toEqual([]))
