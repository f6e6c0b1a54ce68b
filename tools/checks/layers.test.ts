import path from 'node:path'
import { expect, it } from 'vitest'
import { layerViolations } from './layers.ts'

it('imports go downwards only', () => expect(layerViolations(path.resolve(import.meta.dirname, '../..'))).toEqual([]))
