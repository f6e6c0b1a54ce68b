import { expect, test } from 'vitest'
import { personIn } from './claims.ts'

const ISSUER = 'https://login.example'
const NAMES = { user: 'email', groups: 'https://login.example/groups' }
const GROUPS = NAMES.groups
const ANN = { sub: '1001', email: 'ann@example.com', [GROUPS]: ['devs', 'choir'] }
const person = (claims: object) => personIn({ ...ANN, ...claims }, ISSUER, NAMES)

test("a person has a user whose name is nobody else's, and the groups of the claim", () => {
  const ann = person({})
  expect(ann).toMatchObject({ name: 'oidc:ann@example.com', groups: ['devs', 'choir'] })
  expect(ann.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('issuer and subject alone say who it is', () => {
  const { id } = person({})
  expect(person({ email: 'other@example.com', [GROUPS]: [] }).id).toBe(id)
  expect(person({ sub: '1002' }).id).not.toBe(id)
  expect(personIn(ANN, 'https://other.example', NAMES).id).not.toBe(id)
  // Where one text ends and the other begins matters.
  expect(personIn({ ...ANN, sub: 'a' }, `${ISSUER}/b`, NAMES).id).not.toBe(
    personIn({ ...ANN, sub: 'ba' }, `${ISSUER}/`, NAMES).id,
  )
})

test.each<[string, unknown, readonly string[]]>([
  ['a text', 'devs', ['devs']],
  ['nothing', undefined, []],
  ['null', null, []],
  ['a number', 7, []],
  ['an object', { devs: true }, []],
  ['a list with other things', ['devs', 7, null, ['choir'], { a: 1 }], ['devs']],
])('groups that are %s', (_, claim, groups) => {
  expect(person({ [GROUPS]: claim }).groups).toEqual(groups)
})

test.each<[string, object, string]>([
  ['without a subject', { sub: undefined }, 'sub'],
  ['with an empty one', { sub: '' }, 'sub'],
  ['without a name', { email: undefined }, 'email'],
  ['with a name that is no text', { email: ['ann'] }, 'email'],
  ['with a name of spaces', { email: '  ' }, 'email'],
  ['with lines in the name', { email: 'ann\nadmin' }, 'email'],
  ['with a name that is too long', { email: 'a'.repeat(201) }, 'email'],
])('somebody %s is nobody', (_, claims, claim) => {
  expect(() => person(claims)).toThrow(`the claim ${claim} of this login names nobody`)
})
