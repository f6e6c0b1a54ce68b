import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { crdYaml, customResourceDefinition } from './custom-resource-definition.ts'
import { probe, sharedPool } from './sample-kinds.fixture.ts'

const specOf = (spec: z.ZodType) =>
  customResourceDefinition({
    group: 'g.dev',
    kind: 'K',
    plural: 'ks',
    scope: 'Cluster',
    description: 'd',
    versions: [{ name: 'v1', spec }],
  })

it.each([
  ['shared-pool', sharedPool],
  ['probe', probe],
])('%s', async (name, draft) => {
  const definition = customResourceDefinition(draft)
  const text = crdYaml(definition)
  expect(parse(text, { version: '1.1' })).toEqual(definition)
  await expect(text).toMatchFileSnapshot(`testdata/${name}.yaml`)
})

it('has no default of null: the server would drop it, and every later application would change the definition', () => {
  const text = JSON.stringify(specOf(z.object({ a: z.string().nullable().default(null), b: z.int().default(0) })))
  expect(text).toContain('"a":{"nullable":true,"type":"string"}')
  expect(text).toContain('"default":0')
})

describe('what Kubernetes cannot express', () => {
  const recursive: z.ZodType = z.lazy(() => z.object({ child: recursive.optional() }))
  it.each([
    [
      'a union of several types',
      z.object({ a: z.union([z.boolean(), z.string()]) }),
      'spec.a: a union of several types',
    ],
    ['an unknown type', z.object({ a: z.object({ b: z.any() }) }), 'spec.a.b: has no type'],
    ['recursion', z.object({ a: recursive }), 'refers to itself'],
    [
      'variants that no field tells apart',
      z.object({ a: z.union([z.strictObject({ x: z.string() }), z.strictObject({ y: z.string() })]) }),
      'spec.a: no field tells the variants of the union apart',
    ],
    [
      'a field whose type differs between variants',
      z.object({
        a: z.discriminatedUnion('type', [
          z.strictObject({ type: z.literal('x'), v: z.string() }),
          z.strictObject({ type: z.literal('y'), v: z.int() }),
        ]),
      }),
      'spec.a.v: differs between the variants',
    ],
    [
      'a list of arrays or nothing',
      z.object({ a: z.union([z.array(z.int()), z.array(z.string())]) }),
      'union of arrays',
    ],
  ])('%s is refused with the field', (_what, schema, message) => {
    expect(() => specOf(schema)).toThrow(message)
  })

  it('rules for missing fields are refused', () => {
    const versions = [{ name: 'v1', spec: z.object({ a: z.int() }), rules: { 'spec.b': [{ rule: 'true' }] } }] as const
    expect(() =>
      customResourceDefinition({
        group: 'g.dev',
        kind: 'K',
        plural: 'ks',
        scope: 'Cluster',
        description: 'd',
        versions,
      }),
    ).toThrow('spec.b: does not exist at "b"')
  })
})
