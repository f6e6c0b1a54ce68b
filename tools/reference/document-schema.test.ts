import { expect, it } from 'vitest'
import { renderDocumentSchema } from './document-schema.ts'

const schema = JSON.parse(renderDocumentSchema())

it('describes what can be changed, and nothing that the server sets', () => {
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining(['name', 'enabled', 'listeners', 'pools', 'dnsNames']),
  )
  for (const field of ['id', 'generation', 'vips', 'status']) expect(schema.properties).not.toHaveProperty(field)
  for (const part of Object.values<{ properties: object }>(schema.$defs))
    for (const field of ['id', 'createdAt']) expect(part.properties).not.toHaveProperty(field)
})

it('every reference has a target', () => {
  const references = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(([, name]) => name ?? '')
  expect(references.length).toBeGreaterThan(4)
  for (const name of references) expect(schema.$defs).toHaveProperty(name)
})

it('has defaults, and says of fields what the sources say', () => {
  const { PoolDraft, MemberDraft, HttpRouteDraft } = schema.$defs
  expect(PoolDraft.properties.algorithm).toMatchObject({ default: 'round-robin' })
  expect(MemberDraft.properties.weight.description).toMatch(/^Share of new connections/)
  // What a comment says of versions and of constants is for those who read the sources.
  expect(JSON.stringify(schema)).not.toMatch(/arlier version|MOST_/)
  // Two kinds of share have a field of this name, and the comment is about one of them.
  expect(HttpRouteDraft.properties.action.oneOf[0].properties.filters).not.toHaveProperty('description')
})
