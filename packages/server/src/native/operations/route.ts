import type { Principal, Turn } from '@spout/admission/contract'
import { parseAs, parsingAs, type Role } from '@spout/model'
import { inPieces } from '@spout/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { NativeContext } from './context.ts'

/** The callers of an operation: anyone, any valid token, or a role in the token's project. */
export type Access = 'anyone' | 'user' | Role

export interface Call<Body> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Meaningless with access `anyone`. */
  readonly principal: Principal
  readonly params: Readonly<Record<string, string>>
  readonly body: Body
  /** For requests with a long body: resolves when the next piece of the work may be done. */
  readonly turn: Turn | null
  /** Checks access again, for answers that stay open. @throws SpoutError like the first check */
  readonly again: () => Principal
}

export interface Answer {
  readonly status: 200 | 201 | 204
  /** The schema of the answer, for the API document; null for an empty one. */
  readonly schema: z.ZodType | null
  readonly list?: boolean
  /** Default: `application/json`. */
  readonly contentType?: string
}

/** One operation of the native API: its handler and its documentation in one place. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below `/api/v1`, with parameters as `:name`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly access: Access
  readonly query?: Readonly<Record<string, string>>
  /** Whether it is about the web page's session: a token in a header is refused. */
  readonly ofSession?: true
  readonly body: z.ZodType | null
  /** Whether the body may contain a load balancer with everything in it, or much of one. It may be longer then. */
  readonly takesDocument?: true
  readonly answer: Answer
  /**
   * Whether `?dryRun=true` says what the write would do, and stores nothing. True: it is the write of one load balancer.
   * Otherwise, how it is found out.
   */
  readonly previews?: true | OwnPreview
  readonly handle: (context: NativeContext, call: Call<unknown>) => Promise<unknown>
}

/** How a write of something else than a load balancer says what it would do. */
export interface OwnPreview<Body = unknown> {
  readonly schema: z.ZodType
  readonly handle: (context: NativeContext, call: Call<Body>) => Promise<object> | object
}

interface RouteOf<S extends z.ZodType | null> extends Omit<Route, 'body' | 'handle' | 'previews'> {
  readonly body: S
  readonly previews?: true | OwnPreview<S extends z.ZodType ? z.output<S> : undefined>
  readonly handle: (
    context: NativeContext,
    call: Call<S extends z.ZodType ? z.output<S> : undefined>,
  ) => Promise<unknown> | unknown
}

/** A route whose handler gets the parsed body. */
export function route<S extends z.ZodType | null>(spec: RouteOf<S>): Route {
  type Body = S extends z.ZodType ? z.output<S> : undefined
  const parsed = async (call: Call<unknown>): Promise<Call<Body>> => {
    const body = (spec.body === null ? undefined : await bodyOf(spec.body, call)) as Body
    return { ...call, body }
  }
  const { previews, handle, ...rest } = spec
  const own: OwnPreview | null =
    typeof previews === 'object'
      ? { ...previews, handle: async (context, call) => previews.handle(context, await parsed(call)) }
      : null
  return {
    ...rest,
    ...(previews !== undefined && { previews: own ?? true }),
    handle: async (context, call) => handle(context, await parsed(call)),
  }
}

const bodyOf = async <S extends z.ZodType>(schema: S, { body = {}, turn }: Call<unknown>): Promise<z.output<S>> =>
  turn === null ? parseAs(schema, body) : inPieces(parsingAs(schema, body), turn)
