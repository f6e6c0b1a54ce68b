import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, callerOf, isAdmin } from '../access/access.ts'
import type { OctaviaContext } from '../access/context.ts'
import { DEFAULT_POLICY_SET } from '../access/policies.ts'
import type { KnownPools } from '../snapshots/operating-status.ts'
import type { Stamp } from '../wire/wire-type.ts'
import type { KnownLists } from '../write-back/known-lists.ts'
import type { KnownLoadBalancers } from '../write-back/known-load-balancers.ts'
import { refuseTwice, SINGLE } from './list-query.ts'

/** What answers share. It is computed again only when the load balancer has changed. */
export interface Known {
  readonly pools: KnownPools
  readonly loadBalancers: KnownLoadBalancers
  readonly lists: KnownLists
}

/** One call, as handlers get it. */
export interface Call {
  readonly context: OctaviaContext
  readonly known: Known
  readonly principal: Caller
  readonly query: URLSearchParams
  readonly body: unknown
  /** Absolute URL of the path, for links. */
  readonly url: string
  /** The ids in the path: the first, and the second, which only members have. Empty when the path has none. */
  readonly id: string
  readonly childId: string
  readonly stamp: Stamp
  /** Set for requests with a long body. Resolves when the next piece of the work may be done. */
  readonly turn: (() => Promise<void>) | null
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the version, with `:id` and `:childId`. */
  readonly path: string
  readonly status: number
  /** Returns the body of the answer; undefined for an empty one. */
  readonly handle: (call: Call) => unknown
  readonly bodyLimitBytes?: number
}

/** Bodies with whole graphs or thousands of members exceed the server's usual limit. */
export const GRAPH_BODY_LIMIT_BYTES = 4 * 1024 * 1024

/** The API answers under `/v2` and `/v2.0`, with `/lbaas` and without. */
export const MOUNTS = ['/v2/lbaas', '/v2.0/lbaas', '/v2', '/v2.0'] as const
/** Amphorae are not below `/lbaas`. */
export const OCTAVIA_MOUNTS = ['/v2/octavia', '/v2.0/octavia'] as const

/** Registers routes under each of the paths that clients use. */
export function register(
  app: FastifyInstance,
  context: OctaviaContext,
  known: Known,
  routes: readonly Route[],
  mounts: readonly string[] = MOUNTS,
): void {
  for (const { method, path, status, handle, bodyLimitBytes } of routes) {
    const spellings = path.includes(':') ? [path] : [path, `${path}.json`]
    for (const url of mounts.flatMap((mount) => spellings.map((spelling) => mount + spelling)))
      app.route({
        method,
        url,
        ...(bodyLimitBytes === undefined ? {} : { bodyLimit: bodyLimitBytes }),
        handler: async (request, reply) => {
          const call = await callOf(context, known, request)
          const body = await handle(call)
          reply.code(status)
          if (context.send === undefined || typeof body !== 'object' || body === null) return reply.send(body)
          return context.send(reply, call.principal, body)
        },
      })
  }
}

async function callOf(context: OctaviaContext, known: Known, request: FastifyRequest): Promise<Call> {
  const principal = callerOf(await context.authenticate(request), context.options.policySet ?? DEFAULT_POLICY_SET)
  const [pathname, query] = partsOfUrl(request.url)
  if (query.size > 0) refuseTwice(query, SINGLE)
  return new RequestCall(context, known, principal, { request, pathname, query })
}

/** Made for each request, so what only few routes need is computed on first use. */
class RequestCall implements Call {
  readonly context: OctaviaContext
  readonly known: Known
  readonly principal: Caller
  readonly query: URLSearchParams
  readonly #request: FastifyRequest
  readonly #pathname: string
  #stamp: Stamp | null = null

  constructor(
    context: OctaviaContext,
    known: Known,
    principal: Caller,
    asked: { readonly request: FastifyRequest; readonly pathname: string; readonly query: URLSearchParams },
  ) {
    this.context = context
    this.known = known
    this.principal = principal
    this.query = asked.query
    this.#request = asked.request
    this.#pathname = asked.pathname
  }

  get body(): unknown {
    return this.#request.body
  }

  get turn(): Call['turn'] {
    return this.context.turnsOf?.(this.#request, this.principal) ?? null
  }

  get url(): string {
    return baseUrl(this.context, this.#request) + this.#pathname
  }

  get id(): string {
    return pathId(this.#request, 'id')
  }

  get childId(): string {
    return pathId(this.#request, 'childId')
  }

  get stamp(): Stamp {
    this.#stamp ??= {
      newId: this.context.newId,
      now: this.context.clock.now().toISOString(),
      byAdministrator: isAdmin(this.principal),
    }
    return this.#stamp
  }
}

/** Nobody changes a query. */
const NO_QUERY = new URLSearchParams()

/** Avoids `new URL`, which takes longer than the routing. The router has matched the path, so it is well-formed. */
function partsOfUrl(url: string): readonly [path: string, query: URLSearchParams] {
  const queryAt = url.indexOf('?')
  return queryAt === -1 ? [url, NO_QUERY] : [url.slice(0, queryAt), new URLSearchParams(url.slice(queryAt + 1))]
}

export const baseUrl = ({ options }: OctaviaContext, request: FastifyRequest): string =>
  options.publicUrl ?? `${request.protocol}://${request.host}`

function pathId({ params }: FastifyRequest, name: string): string {
  const value: unknown = params !== null && typeof params === 'object' ? Reflect.get(params, name) : undefined
  if (typeof value !== 'string') return ''
  return value.endsWith('.json') ? value.slice(0, -'.json'.length) : value
}
