import path from 'node:path'
import { expect, it } from 'vitest'
import { longSubjects, tooLong } from './commit-subjects.ts'

it('commit subjects have at most 72 characters', async () =>
  expect(await longSubjects(path.resolve(import.meta.dirname, '../..'))).toEqual([]))

it('counts characters, not bytes', () => {
  expect(tooLong(`${'ä'.repeat(72)}\n${'a'.repeat(73)}\n`)).toEqual(['a'.repeat(73)])
})
