import { describe, expect, it } from 'vitest'
import { Problem } from '../api/problem.ts'
import { missingIn, refusalOf } from './login-words.ts'

it('names what was not typed', () => {
  expect(missingIn({ userName: '', password: '' })).toBe('Type your user and your password.')
  expect(missingIn({ userName: 'alice', password: '' })).toBe('Type your password.')
  expect(missingIn({ applicationCredentialId: '', secret: 'x' })).toBe('Type the id.')
  expect(missingIn({ userName: 'alice', password: 'x' })).toBeNull()
})

describe('refusalOf', () => {
  const refused = new Problem(401, 'Authentication is required: the scope is not valid', 'Unauthenticated')
  it('names what was typed, and nothing else', () => {
    expect(refusalOf(refused, { userName: 'alice', password: 'x' }).message).toBe('The user or the password is wrong.')
    expect(refusalOf(refused, { userName: 'alice', password: 'x', projectId: 'p' }).message).toContain('this project')
    expect(refusalOf(refused, { applicationCredentialId: 'c', secret: 'x' }).message).toContain('secret')
  })

  it('leaves other problems as they are', () => {
    const away = new Problem(0, 'The control plane does not answer.', 'Unreachable')
    expect(refusalOf(away, { userName: 'alice', password: 'x' })).toBe(away)
  })
})
