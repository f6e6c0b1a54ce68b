import { expect, test } from 'vitest'
import { customResourceDefinitions } from './definitions.ts'

/** What YAML 1.1, which kubectl reads, takes for true and false. */
const BOOLEANS = /^(y|yes|n|no|true|false|on|off)$/i

function* fieldsOf(node: unknown, at: string): Generator<string> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties') for (const field of Object.keys(value as object)) yield `${at}.${field}`
    yield* fieldsOf(value, name === 'properties' ? at : `${at}/${name}`)
  }
}

test.each(customResourceDefinitions().map((one) => [one.metadata.name, one] as const))(
  '%s has no field that YAML takes for a boolean',
  (name, { spec }) => {
    const fields = [...fieldsOf(spec, name)]
    expect(fields.length).toBeGreaterThan(5)
    expect(fields.filter((field) => BOOLEANS.test(field.slice(field.lastIndexOf('.') + 1)))).toEqual([])
  },
)
