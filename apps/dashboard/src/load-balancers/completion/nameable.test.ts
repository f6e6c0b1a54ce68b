import { expect, it } from 'vitest'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { namingField } from './nameable.ts'

/** The page does not read them: they have no list in the native API. */
const WITHOUT_LIST = ['securityGroupIds']

it('every field of the schema that names something by its id, or a pool, is known', () => {
  const fields = new Set<string>()
  JSON.stringify(DOCUMENT_SCHEMA, (key, value: unknown) => {
    if (key === 'properties') for (const name of Object.keys(value as object)) fields.add(name)
    return value
  })
  const naming = [...fields].filter((name) => /[a-z]Ids?$|^(pool|defaultPool)$/.test(name))
  expect(naming.length).toBeGreaterThan(5)
  expect(naming.filter((name) => namingField(name) === undefined)).toEqual(WITHOUT_LIST)
})
