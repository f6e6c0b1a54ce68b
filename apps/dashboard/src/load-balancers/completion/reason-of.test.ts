import { SpoutError } from '@spout/model/errors'
import { expect, it } from 'vitest'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { reasonOf } from './reason-of.ts'

const unknown = (...path: readonly (string | number)[]) =>
  reasonOf(new SpoutError('UnknownField', { field: path.join('.') }), path, DOCUMENT_SCHEMA)
const missing = (...path: readonly (string | number)[]) =>
  reasonOf(new SpoutError('MissingField', { field: path.join('.') }), path, DOCUMENT_SCHEMA)

it('says which name was likely meant', () => {
  expect(unknown('nmae')).toBe('Field nmae is not known here: did you mean name?')
  expect(unknown('pools', 0, 'members', 3, 'wieght')).toContain('did you mean weight?')
  expect(unknown('pools', 0, 'zzz')).toBe('Field pools.0.zzz is not known here')
})

it('is silent about what the server takes: a pool may be named instead of its id', () => {
  const share = ['listeners', 0, 'routes', 0, 'action', 'pools', 1] as const
  expect(unknown(...share, 'pool')).toBeNull()
  expect(missing(...share, 'poolId')).toBeNull()
  expect(missing('pools', 0, 'members', 0, 'port')).toContain('is required')
})
