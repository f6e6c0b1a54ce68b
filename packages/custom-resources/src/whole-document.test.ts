import { expect, test } from 'vitest'
import { z } from 'zod'
import { creation } from '../../server/src/native/load-balancers/load-balancers.ts'
import { customResourceDefinitions } from './definitions.ts'

type Schema = Readonly<Record<string, unknown>>

/** The paths of all fields below a schema, and `path=word` for each word that a field may have. */
function* pathsOf(schema: unknown, at: string): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  const { properties = {}, items, additionalProperties, oneOf, anyOf, enum: words = [], const: word } = schema as Schema
  for (const one of [...(words as unknown[]), word]) if (typeof one === 'string') yield `${at}=${one}`
  for (const variants of [oneOf, anyOf]) for (const one of (variants ?? []) as unknown[]) yield* pathsOf(one, at)
  for (const [name, field] of Object.entries(properties as Schema)) {
    const path = at === '' ? name : `${at}.${name}`
    yield path
    yield* pathsOf(field, path)
  }
  yield* pathsOf(items, `${at}[]`)
  yield* pathsOf(additionalProperties, `${at}.*`)
}

/** What the native API takes for a new load balancer. */
const native = [...new Set(pathsOf(z.toJSONSchema(creation, { io: 'input', unrepresentable: 'any' }), ''))]

function specSchema(): unknown {
  const { spec } = customResourceDefinitions().find(({ metadata }) => metadata.name === 'loadbalancers.spout.dev')!
  const [version] = spec['versions'] as readonly { schema: { openAPIV3Schema: { properties: Schema } } }[]
  return version?.schema.openAPIV3Schema.properties['spec']
}
const ofObject = new Set(pathsOf(specSchema(), ''))

/** Where an object says it with another word: pools by name, and `type` for `on`, which YAML takes for true. */
const inItsWords = (path: string): string =>
  path
    .replace(/^listeners\[\]\.defaultPoolId$/, 'listeners[].defaultPool')
    .replace(/\.poolId$/, '.pool')
    .replace(/\.(conditions\[\]|passiveCheck)\.on\b/, '.$1.type')

/** What an object does not say, each with the reason. */
const NOT_SAID: readonly (readonly [fields: RegExp, because: string])[] = [
  [/(^|\.)(id|createdAt|updatedAt)$/, 'the control plane gives them to parts'],
  [/(^|\.)(description|tags)$/, 'labels and annotations of the object do that'],
  [/^(name|projectId|annotations)$/, 'namespace and name of the object, its project, and what the connector notes'],
  [/^pools\[\]\.monitor\.name$/, 'a pool has one at most'],
  [/^pools\[\]\.members\[\]\.subnetId$/, 'an address tells its subnet'],
  [/^vips\b/, 'addresses and addressPools say it'],
  [/^(classId|nodeGroupId)$/, 'the class says it, by name'],
]

/** Words that are checked by the control plane: which ones fit depends on other fields. */
const CHECKED_LATER =
  /\.conditions\[\]\.values\[\]=|\.filters\[\]\.(methods|headers|exposeHeaders)\[\]=|\.authorizer\.(method|sendHeaders\[\])=/

test('an object can say every field and every word that the native API takes, but for those with a reason', () => {
  const missing = native
    .filter((path) => !NOT_SAID.some(([fields]) => fields.test(path.replace(/=.*/, ''))))
    .filter((path) => !CHECKED_LATER.test(path) && !ofObject.has(inItsWords(path)))
  expect(missing).toEqual([])
  expect(native.length).toBeGreaterThan(200)
})

test.each(NOT_SAID)('%s is a field of the native API, and not of objects: %s', (fields) => {
  expect(native.some((path) => fields.test(path))).toBe(true)
  expect([...ofObject].filter((path) => fields.test(path))).toEqual([])
})
