import { z } from 'zod'
import { HTTP_METHODS } from '../health-checks/health-monitor.ts'
import { port, uuid } from '../scalars/scalars.ts'
import { headerName, hostText, pathAndQueryText, pathText } from './route-condition.ts'
import { ANY, changeableHeader, header } from './route-filter.ts'

/** Where a client is sent that has to sign in first. What is null is as in the request. */
const signIn = z.strictObject({
  scheme: z.enum(['http', 'https']).nullable().default(null),
  host: hostText.nullable().default(null),
  /** Null: the scheme's own. */
  port: port.nullable().default(null),
  path: pathAndQueryText,
  /** The parameter that says where the client comes from: its whole URL, or path and query. Null: none does. */
  returnTo: z
    .strictObject({
      parameter: z.string().regex(/^[A-Za-z0-9._~-]{1,64}$/, 'is not the name of a query parameter'),
      as: z.enum(['url', 'path']).default('url'),
    })
    .nullable()
    .default(null),
})

/** Of the texts together: nodes have them in one row of a map. */
const MOST_CHARACTERS = 3_000

/**
 * A pool that is asked whether a request may go on, by a request of its own without a body. 2xx lets it go on; 401 and 403
 * are the client's answer; with anything else, or with none in time, the client gets 500.
 */
export const routeAuthorizer = z
  .strictObject({
    poolId: uuid,
    /** Null: that of the request. */
    method: z.enum(HTTP_METHODS).nullable().default(null),
    /** Null: that of the request. */
    host: hostText.nullable().default(null),
    /** Null: path and query of the request. */
    path: pathAndQueryText.nullable().default(null),
    /** Stands before the path of the request. */
    pathPrefix: pathText.nullable().default(null),
    /** Headers of the request that it gets; `Authorization` always. `*` is all. */
    sendHeaders: z
      .array(z.union([z.literal(ANY), headerName]))
      .max(64)
      .default([ANY]),
    /** Headers that it gets besides, in place of the client's. */
    setHeaders: z.array(header).max(16).default([]),
    /** Headers of its answer that the pools of the route get, and no client can write. */
    takeHeaders: z.array(changeableHeader).max(32).default([]),
    /** With which answers the client gets the cookies that it sets: codes below 400, or all. */
    cookies: z.enum(['never', 'successes', 'always']).default('never'),
    /** Instead of its 401 (302). */
    signIn: signIn.nullable().default(null),
  })
  .refine(({ path, pathPrefix }) => path === null || pathPrefix === null, {
    path: ['pathPrefix'],
    message: 'and path exclude each other',
  })
  .refine((authorizer) => JSON.stringify(authorizer).length <= MOST_CHARACTERS, {
    message: `has more than ${MOST_CHARACTERS} characters`,
  })
export type RouteAuthorizer = z.infer<typeof routeAuthorizer>
