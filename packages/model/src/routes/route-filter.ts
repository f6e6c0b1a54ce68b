import { z } from 'zod'
import { HTTP_METHODS } from '../health-checks/health-monitor.ts'
import { headerName, hostText, pathText } from './route-condition.ts'

/**
 * Headers that say how a message is transferred, or where to. A change would desynchronise the proxy and a member (RFC
 * 9110 section 7.6.1, RFC 9112 section 6), or the proxy would undo it.
 */
const FIXED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export const changeableHeader = headerName.refine((name) => !FIXED_HEADERS.has(name), {
  message: 'is a header that says how messages are transferred; use rewrite for the host',
})

/** RFC 9110 section 5.5, restricted to ASCII, without spaces at either end. */
const headerValue = z
  .string()
  .max(1024)
  .regex(/^(?:[!-~](?:[ !-~]*[!-~])?)?$/, 'must hold printable ASCII only, with no space around it')

export const header = z.strictObject({ name: changeableHeader, value: headerValue })

/** Removals come first; a set header replaces all lines of that name; an added header is one more line. */
const headerEdits = {
  set: z.array(header).max(16).default([]),
  add: z.array(header).max(16).default([]),
  remove: z.array(changeableHeader).max(16).default([]),
}
const requestHeaders = z.strictObject({ type: z.literal('request-headers'), ...headerEdits })
const responseHeaders = z.strictObject({ type: z.literal('response-headers'), ...headerEdits })

/** Null leaves that part as the client sent it. The query is never changed. */
const rewrite = z
  .strictObject({
    type: z.literal('rewrite'),
    host: hostText.nullable().default(null),
    /** The whole path. */
    path: pathText.nullable().default(null),
    /** The elements that the path begins with, and what replaces them. Other paths stay. */
    prefix: z.strictObject({ from: pathText, to: pathText }).nullable().default(null),
  })
  .refine(({ path, prefix }) => path === null || prefix === null, {
    path: ['prefix'],
    message: 'and path exclude each other',
  })
  .refine(({ host, path, prefix }) => host !== null || path !== null || prefix !== null, {
    message: 'must name a host, a path or a prefix',
  })

export const ANY = '*'
const origin = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(
    /^(?:\*|https?:\/\/(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::\d{1,5})?)$/,
    "is no origin: scheme, host and port (https://shop.example.com, https://*.example.com), or '*'",
  )
  .refine((text) => Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= 65_535, { message: 'has a port above 65535' })

/**
 * Cross-origin requests (CORS protocol, Fetch standard). The proxy answers preflight requests and replaces members' own
 * headers of the protocol. `*` means any.
 */
const cors = z.strictObject({
  type: z.literal('cors'),
  /** `https://*.example.com` is any name below `example.com`. */
  origins: z.array(origin).min(1).max(64),
  methods: z
    .array(z.union([z.literal(ANY), z.enum(HTTP_METHODS)]))
    .max(HTTP_METHODS.length)
    .default(['GET', 'HEAD', 'POST']),
  headers: z
    .array(z.union([z.literal(ANY), headerName]))
    .max(64)
    .default([]),
  exposeHeaders: z
    .array(z.union([z.literal(ANY), headerName]))
    .max(64)
    .default([]),
  /** Whether scripts may send cookies and read the answers. */
  credentials: z.boolean().default(false),
  /** How long a browser may keep the answer to a preflight request. */
  maxAgeSeconds: z.number().int().min(0).max(86_400).default(5),
})

export const routeFilter = z.discriminatedUnion('type', [requestHeaders, responseHeaders, rewrite, cors], {
  error: 'must be one of request-headers, response-headers, rewrite, cors',
})
export type RouteFilter = z.infer<typeof routeFilter>

/** Limit of all filters of one route together, as JSON: nodes keep them in one row of a map. */
const MOST_CHARACTERS = 3_000

/** The filters for requests and responses between client and pools. At most one of each type. */
export const routeFilters = z
  .array(routeFilter)
  .max(4)
  .refine((filters) => new Set(filters.map(({ type }) => type)).size === filters.length, {
    message: 'has two of one type',
  })
  .refine((filters) => JSON.stringify(filters).length <= MOST_CHARACTERS, {
    message: `have more than ${MOST_CHARACTERS} characters together`,
  })

/** Filters for one of several pools. CORS is excluded: it must be the same for all pools of a route. */
export const shareFilters = routeFilters.refine((filters) => filters.every(({ type }) => type !== 'cors'), {
  message: 'must be of types request-headers, response-headers and rewrite',
})
