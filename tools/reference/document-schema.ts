import path from 'node:path'
import { renderOpenApi } from '@spout/server'
import { type FieldWords, fieldWords } from './field-words.ts'

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly [keyword: string]: unknown
}

const MODEL = 'packages/model/src'
const DRAFTS = 'packages/server/src/native/drafts'

/** Where the fields of each part are written down: its own files first, then those of what is inside it. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  LoadBalancer: [`${MODEL}/load-balancers/load-balancer.ts`],
  ListenerDraft: [
    `{${MODEL}/load-balancers/listener,${DRAFTS}/load-balancer-draft}.ts`,
    `${MODEL}/load-balancers/access-log.ts`,
  ],
  PoolDraft: [`${MODEL}/load-balancers/pool.ts`, `${MODEL}/load-balancers/{client-networks,session-cookie}.ts`],
  MemberDraft: [`${MODEL}/load-balancers/pool.ts`],
  HealthMonitorDraft: [`${MODEL}/health-checks/health-monitor.ts`],
  HttpRouteDraft: [
    `${MODEL}/routes/http-route.ts`,
    `${MODEL}/routes/{route-{authorizer,client-rate,filter,mirror,retry,timeouts},basic-authentication}.ts`,
    `${DRAFTS}/route-draft.ts`,
  ],
}

/** The keywords of JSON Schema that completion reads. */
const KEYWORDS = [
  ...['$ref', 'type', 'description', 'default', 'const', 'enum', 'minimum', 'maximum'],
  ...['anyOf', 'oneOf', 'properties', 'required', 'items'],
] as const
/** Parts have these, and nobody types them. */
const SET_BY_SERVER: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt'])

/**
 * docs/reference/load-balancer.schema.json: what people may change in the document of a load balancer, as JSON Schema,
 * from the API document, with what the comments of the sources say about fields. The web page completes by it.
 */
export function renderDocumentSchema(): string {
  const { paths, components } = JSON.parse(renderOpenApi())
  const bodyOf = (method: string): SchemaNode =>
    paths['/load-balancers/{id}'][method].requestBody.content['application/json'].schema
  const { properties: replaced = {} } = bodyOf('put')
  const changeable = [...Object.keys(bodyOf('patch').properties ?? {}), 'listeners', 'pools']
  const own = Object.fromEntries(Object.entries(replaced).filter(([name]) => changeable.includes(name)))
  const root = path.resolve(import.meta.dirname, '../..')
  const wordsOf = (part: string) => (SOURCES[part] ?? []).map((source) => fieldWords(root, [source]))
  const parts = Object.keys(SOURCES).filter((part) => part !== 'LoadBalancer')
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What can be changed in the document of a load balancer',
    ...described({ type: 'object', properties: own }, wordsOf('LoadBalancer')),
    $defs: Object.fromEntries(parts.map((part) => [part, described(components.schemas[part], wordsOf(part))])),
  }
  return `${JSON.stringify(schema, null, 2).replaceAll('#/components/schemas/', '#/$defs/')}\n`
}

/** A part with the words about its fields, reduced to what completion reads. */
function described(part: SchemaNode, words: readonly FieldWords[], depth = 0): SchemaNode {
  const inner = (node: unknown): unknown => described(node as SchemaNode, words, depth + 1)
  const kept = Object.entries(part).filter(([keyword]) => KEYWORDS.some((known) => known === keyword))
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, inner(value)]
      if (keyword === 'anyOf' || keyword === 'oneOf') return [keyword, (value as readonly unknown[]).map(inner)]
      if (keyword !== 'properties') return [keyword, value]
      const fields = Object.entries(value as Readonly<Record<string, SchemaNode>>)
        .filter(([name]) => !SET_BY_SERVER.has(name))
        .map(([name, node]) => {
          const description = wordsFor(name, words, depth === 0)
          return [name, { ...(description !== null && { description }), ...(inner(node) as SchemaNode) }]
        })
      return [keyword, Object.fromEntries(fields)]
    }),
  )
}

/** The only text about a field; null where there are several, of which nothing says which is meant. */
function wordsFor(name: string, words: readonly FieldWords[], isOfPart: boolean): string | null {
  const [own] = words
  const all = isOfPart ? (own?.get(name) ?? []) : [...new Set(words.flatMap((one) => one.get(name) ?? []))]
  return all.length === 1 && all[0] !== '' ? (all[0] ?? null) : null
}
