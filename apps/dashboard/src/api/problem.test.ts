import { describe, expect, it } from 'vitest'
import { Problem, problemOf, problemText, reasonAtField } from './problem.ts'

describe('problemOf', () => {
  it('reads a problem document', () => {
    const text = JSON.stringify({ status: 400, detail: 'Field name: is taken', code: 'NameTaken', field: 'name' })
    const problem = problemOf(400, text)
    expect(problem).toMatchObject({ status: 400, message: 'Field name: is taken', code: 'NameTaken', fields: ['name'] })
  })

  it('names all wrong fields when the server does', () => {
    expect(problemOf(400, '{"field":"a","fields":["a","b"]}').fields).toEqual(['a', 'b'])
  })

  it('says the status of an answer that is no problem document', () => {
    for (const text of ['<html>', 'null', '']) expect(problemOf(502, text).message).toBe('The server answered 502.')
  })
})

it('is told to people in whole sentences', () => {
  expect(problemText(new Problem(409, 'certificate c1 is in use by listener web'))).toBe(
    'Certificate c1 is in use by listener web.',
  )
  expect(problemText(new Problem(404, 'Field vips: did you mean vip?'))).toBe('Field vips: did you mean vip?')
  expect(problemText(new Problem(0, 'It does not answer.'))).toBe('It does not answer.')
})

describe('reasonAtField', () => {
  it('leaves out the name of the field', () => {
    const problem = new Problem(400, 'Field vips[0].poolId: is not a UUID', 'InvalidField', ['vips[0].poolId'])
    expect(reasonAtField(problem)).toBe('is not a UUID')
    expect(reasonAtField(new Problem(400, 'Field name is required', 'MissingField', ['name']))).toBe('is required')
  })

  it('keeps a text that names no field', () => {
    expect(reasonAtField(new Problem(403, 'Not allowed: read only'))).toBe('Not allowed: read only')
  })
})
