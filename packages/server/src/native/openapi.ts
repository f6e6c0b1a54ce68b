import {
  auditRecord,
  drainPreview,
  healthMonitor,
  httpRoute,
  KINDS,
  listener,
  loadBalancerRow,
  member,
  pageSession,
  pool,
  preview,
  publicNodeGroup,
  subnet,
} from '@spout/model'
import { z } from 'zod'
import { isBalancing } from '../authn/balancer.ts'
import { pageCookie } from '../authn/page-cookie.ts'
import { problemSchema } from '../http/problem.ts'
import { listenerDraft, memberDraft, monitorDraft, poolDraft } from './drafts/load-balancer-draft.ts'
import { routeDraft } from './drafts/route-draft.ts'
import { creation } from './load-balancers/load-balancers.ts'
import { memberChangeDraft } from './load-balancers/member-changes.ts'
import type { Route } from './operations/route.ts'
import { ROUTES } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

/** The name of a kind's schema: `LoadBalancer` of `loadBalancer`. */
const schemaName = (kind: string): string => kind.charAt(0).toUpperCase() + kind.slice(1)

/** Schemas that the document defines once and refers to: those of the kinds, and these. */
const NAMED = {
  ...Object.fromEntries(Object.entries(KINDS).map(([kind, schema]) => [schemaName(kind), schema])),
  AuditRecord: auditRecord,
  DrainPreview: drainPreview,
  HealthMonitor: healthMonitor,
  HealthMonitorDraft: monitorDraft,
  HttpRoute: httpRoute,
  HttpRouteDraft: routeDraft,
  Listener: listener,
  ListenerDraft: listenerDraft,
  LoadBalancerDraft: creation,
  LoadBalancerRow: loadBalancerRow,
  Member: member,
  MemberChange: memberChangeDraft,
  MemberDraft: memberDraft,
  NodeGroup: publicNodeGroup,
  PageSession: pageSession,
  Pool: pool,
  PoolDraft: poolDraft,
  Preview: preview,
  Problem: problemSchema,
  Subnet: subnet,
} as const

/** The API as OpenAPI 3.1, generated from the routes and the model's schemas. The same input gives the same bytes. */
export function renderOpenApi(): string {
  const named = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(NAMED)) named.add(schema, { id })
  const schemas: Record<string, Json> = { Problem: PROBLEM }
  const jsonSchema: JsonSchemaOf = (schema) => {
    // Wrapped, because the generator never makes a reference at the root.
    const { $defs = {}, properties } = z.toJSONSchema(z.object({ it: schema }), {
      // Addresses are texts that a parser checks. The document describes the text.
      io: 'input',
      unrepresentable: 'any',
      metadata: named,
    })
    for (const [name, definition] of Object.entries($defs)) schemas[name] ??= asComponent(definition)
    return asComponent(properties?.it)
  }
  const paths: Record<string, Record<string, Json>> = {}
  for (const known of ROUTES) {
    const path = known.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][known.method.toLowerCase()] = operation(known, jsonSchema)
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Spout', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: {
        Problem: {
          description: 'What is wrong, with which field, and whether trying again can help',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** How a caller is known. Every operation that asks for a token also takes the one in the web page's cookie. */
const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: pageCookie(true).name },
    description:
      `The session of the web page, which POST /session opens. Without TLS the cookie is named ${pageCookie(false).name}. ` +
      'It counts only with `Sec-Fetch-Site: same-origin`, or with `spout-page: 1` where a browser sends no such header.',
  },
} as const

const text = { type: 'string' } as const
const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'retry', 'instance'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: text,
    code: text,
    field: text,
    retry: { enum: ['never', 'backoff', 'onChange'] },
    instance: text,
  },
} as const

function operation(known: Route, jsonSchema: JsonSchemaOf): Json {
  const inPath = [...known.path.matchAll(/:(\w+)/g)].map(([, name]) => parameter('path', name ?? '', null))
  const query = { ...known.query, ...(known.previews && { dryRun: DRY_RUN }) }
  const inQuery = Object.entries(query).map(([name, description]) => parameter('query', name, description))
  return {
    operationId: operationId(known),
    tags: [known.tag],
    summary: known.summary,
    description: `Access: ${known.access}${isBalancing(known) && isRole(known.access) ? ' or balancer' : ''}.`,
    ...(known.access !== 'anyone' && { security: [...(known.ofSession ? [] : [{ token: [] }]), { session: [] }] }),
    parameters: [...inPath, ...inQuery],
    ...(known.body && {
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(known.body) } } },
    }),
    responses: {
      [known.answer.status]: {
        description: 'Done',
        ...(known.answer.schema && {
          content: {
            [known.answer.contentType ?? 'application/json']: {
              schema: answerSchema(jsonSchema(known.answer.schema), known.answer.list === true),
            },
          },
        }),
      },
      ...(known.previews && dryRunAnswer(known, jsonSchema)),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

const DRY_RUN = 'true answers what would happen, and stores nothing'

/** A dry run answers 200, whatever the write does. */
function dryRunAnswer({ answer, previews }: Route, jsonSchema: JsonSchemaOf): Json {
  const said = typeof previews === 'object' ? previews.schema : preview
  const schemas = [...(answer.status === 200 && answer.schema ? [answer.schema] : []), said].map(jsonSchema)
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas }
  return { 200: { description: 'Done, or with `dryRun` what would be', content: { 'application/json': { schema } } } }
}

const isRole = (access: Route['access']): boolean => access !== 'anyone' && access !== 'user'

const parameter = (where: 'path' | 'query', name: string, description: string | null): Json => ({
  name,
  in: where,
  ...(where === 'path' && { required: true }),
  ...(description !== null && { description }),
  schema: text,
})

/** `PUT /load-balancers/:id/pools/:part/members` becomes `put-load-balancers-id-pools-part-members`. */
const operationId = (known: Route): string =>
  [known.method.toLowerCase(), ...known.path.split('/').filter((part) => part !== '')].join('-').replaceAll(':', '')

const answerSchema = (one: Json, list: boolean): Json => {
  if (!list) return one
  const properties = { items: { type: 'array', items: one }, revision: text }
  return { type: 'object', required: ['items'], properties }
}

type JsonSchemaOf = (schema: z.ZodType) => Json

/** Adjusts references to OpenAPI, and removes `id`, which would make the schema a separate document. */
function asComponent(definition: unknown): Json {
  const { id: _, ...schema } = JSON.parse(
    JSON.stringify(definition).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Json
  return schema
}
