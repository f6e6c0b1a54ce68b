import path from 'node:path'
import { expect, it } from 'vitest'
import { staleReference } from './reference.ts'

it('the generated reference is up to date (./dev golden writes it)', () =>
  expect(staleReference(path.resolve(import.meta.dirname, '../..'))).toEqual([]))
