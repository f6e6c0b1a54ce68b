import { z } from 'zod'
import { HTTP_METHODS } from '../health-checks/health-monitor.ts'
import { port, uuid } from '../scalars/scalars.ts'
import { headerName, hostText, pathAndQueryText, pathText } from './route-condition.ts'
import { ANY, changeableHeader, header } from './route-filter.ts'

/** Where a client that must sign in first is redirected. A part that is null is taken from the request. */
const signIn = z.strictObject({
  scheme: z.enum(['http', 'https']).nullable().default(null),
  host: hostText.nullable().default(null),
  /** Null: the scheme's default. */
  port: port.nullable().default(null),
  path: pathAndQueryText,
  /** The query parameter with the address that the client asked for: the whole URL, or path and query. Null: none. */
  returnTo: z
    .strictObject({
      parameter: z.string().regex(/^[A-Za-z0-9._~-]{1,64}$/, 'is not the name of a query parameter'),
      as: z.enum(['url', 'path']).default('url'),
    })
    .nullable()
    .default(null),
})

/** Limit of all texts of one authorizer together: nodes keep them in one row of a map. */
const MOST_CHARACTERS = 3_000

/**
 * A pool that decides whether a request is forwarded. The proxy asks it with a separate request without a body. After
 * 2xx the client's request is forwarded. 401 and 403 are passed to the client. After anything else, or a time-out, the
 * client gets 500.
 */
export const routeAuthorizer = z
  .strictObject({
    poolId: uuid,
    /** Null: the method of the client's request. */
    method: z.enum(HTTP_METHODS).nullable().default(null),
    /** Null: the host of the client's request. */
    host: hostText.nullable().default(null),
    /** Null: path and query of the client's request. */
    path: pathAndQueryText.nullable().default(null),
    /** Is put before the path of the client's request. */
    pathPrefix: pathText.nullable().default(null),
    /** Headers of the client's request that the authorizer gets. It always gets `Authorization`. `*`: all. */
    sendHeaders: z
      .array(z.union([z.literal(ANY), headerName]))
      .max(64)
      .default([ANY]),
    /** Headers that the authorizer gets in addition. They replace the client's of the same name. */
    setHeaders: z.array(header).max(16).default([]),
    /** Headers of the authorizer's response that the route's pools get. The same headers of the client are removed. */
    takeHeaders: z.array(changeableHeader).max(32).default([]),
    /**
     * When the client gets the cookies that the authorizer sets: with responses below 400 (`successes`), or with all.
     */
    cookies: z.enum(['never', 'successes', 'always']).default('never'),
    /** The redirect (302) that the client gets instead of the authorizer's 401. Null: the client gets the 401. */
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
