import { z } from 'zod'
import { HTTP_METHODS } from '../health-checks/health-monitor.ts'
import { parseRegex, RegexError } from '../regex/index.ts'
import { looseCidrText } from '../scalars/scalars.ts'
import { MOST_WILDCARD_LABELS } from './route-words.ts'

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
export const hostText = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(HOST, 'is not a host name: labels of letters, digits, - and _, between dots')
/** A part of a host name. */
const hostPart = z
  .string()
  .min(1)
  .max(253)
  .toLowerCase()
  .regex(/^[a-z0-9_.-]+$/, 'is not a part of a host name: letters, digits, -, _ and dots')

/** A path as RFC 3986 section 3.3 has it, not decoded. */
const PATH_CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
export const pathText = z
  .string()
  .max(1024)
  .regex(
    new RegExp(`^/${PATH_CHARACTERS}$`),
    'must begin with / and hold only what RFC 3986 allows in a path; encode others as %XX',
  )
/** A part of a path. */
const pathPart = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[A-Za-z0-9._~!$&'()*+,;=:@/%-]+$/, 'must hold only what RFC 3986 allows in a path; encode others as %XX')
/** A path, and a query if it has one. */
export const pathAndQueryText = z
  .string()
  .max(1024)
  .regex(
    new RegExp(`^/${PATH_CHARACTERS}(?:\\?(?:${PATH_CHARACTERS}|\\?)*)?$`),
    'must begin with / and hold only what RFC 3986 allows in a path and a query; encode others as %XX',
  )

/**
 * A regular expression of the subset that `parseRegex` accepts. The planner checks whether its automaton is too large.
 */
const regexText = (anyCase: boolean) =>
  z
    .string()
    .min(1)
    .max(512)
    .superRefine((text, context) => {
      try {
        parseRegex(text, anyCase)
      } catch (error) {
        if (!(error instanceof RegexError)) throw error
        context.addIssue({ code: 'custom', message: error.message })
      }
    })

/** RFC 9110 section 5.1; compared in lower case. */
export const headerName = z
  .string()
  .max(64)
  .toLowerCase()
  .regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'is not the name of a header (RFC 9110)')
/** RFC 6265 section 4.1.1. */
const cookieName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a cookie (RFC 6265)')
const queryName = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9._~!$'()*+,;:@/?%[\]-]+$/,
    'is not the name of a query parameter: what RFC 3986 allows there, other characters as %XX',
  )
const printable = z
  .string()
  .max(1024)
  .regex(/^[ -~]*$/, 'must hold printable ASCII only')

/** Limit for all values of a condition that are compared one by one. */
const MOST_CHARACTERS = 4_000

/** Limit of values per condition. Regular expressions have a lower one. */
export const MOST_CONDITION_VALUES = 64
const valuesOf = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(MOST_CONDITION_VALUES)
const textsOf = <T extends z.ZodType<string>>(value: T) =>
  valuesOf(value).refine((values) => values.join('').length <= MOST_CHARACTERS, {
    message: `have more than ${MOST_CHARACTERS} characters together`,
  })
const regexesOf = (anyCase: boolean) => z.array(regexText(anyCase)).min(1).max(8)
/** Whether the condition is inverted: it then holds if none of the values fits. */
const not = z.boolean().default(false)

const hostValues = valuesOf(hostText)
const wildcardValues = valuesOf(
  hostText.refine((name) => name.split('.').length <= MOST_WILDCARD_LABELS, {
    message: `must have at most ${MOST_WILDCARD_LABELS} labels, since its subdomains are looked up label by label`,
  }),
)

/** Comparisons of a text with a part of it. */
const PARTS = ['prefix', 'ends-with', 'contains'] as const
const PATH_PARTS = ['ends-with', 'contains'] as const
const TEXTS = ['exact', ...PARTS] as const

/** The `Host` of the request, without port and trailing dot, in lower case. */
const hostCondition = z.discriminatedUnion(
  'compare',
  [
    z.strictObject({ on: z.literal('host'), compare: z.literal('exact'), values: hostValues, not }),
    /** For `example.com`: `a.example.com`, but neither `example.com` nor `b.a.example.com`. */
    z.strictObject({ on: z.literal('host'), compare: z.literal('one-label'), values: wildcardValues, not }),
    /** For `example.com`: `a.example.com` and `b.a.example.com`, but not `example.com`. */
    z.strictObject({ on: z.literal('host'), compare: z.literal('any-labels'), values: wildcardValues, not }),
    z.strictObject({ on: z.literal('host'), compare: z.enum(PARTS), values: textsOf(hostPart), not }),
    z.strictObject({ on: z.literal('host'), compare: z.literal('regex'), values: regexesOf(true), not }),
  ],
  { error: 'must be one of exact, one-label, any-labels, prefix, ends-with, contains, regex' },
)

/** The path as it was sent, without the query, byte by byte. */
const pathCondition = z.discriminatedUnion(
  'compare',
  [
    z.strictObject({
      on: z.literal('path'),
      /** `elements`: for `/a` also `/a/` and `/a/b`, but not `/ab`. `prefix`: characters, so `/ab` too. */
      compare: z.enum(['exact', 'elements', 'prefix']),
      values: valuesOf(pathText),
      not,
    }),
    z.strictObject({ on: z.literal('path'), compare: z.enum(PATH_PARTS), values: textsOf(pathPart), not }),
    z.strictObject({ on: z.literal('path'), compare: z.literal('regex'), values: regexesOf(false), not }),
  ],
  { error: 'must be one of exact, elements, prefix, ends-with, contains, regex' },
)

const methodCondition = z.strictObject({ on: z.literal('method'), values: valuesOf(z.enum(HTTP_METHODS)), not })

/** A named part of a request, such as a header. If the request has several of that name, one that fits is enough. */
const namedCondition = <On extends 'header' | 'cookie' | 'query' | 'client-name'>(on: On, name: z.ZodType<string>) =>
  z.discriminatedUnion(
    'compare',
    [
      z.strictObject({ on: z.literal(on), name, compare: z.enum(TEXTS), values: textsOf(printable), not }),
      z.strictObject({ on: z.literal(on), name, compare: z.literal('regex'), values: regexesOf(false), not }),
    ],
    { error: `must be one of ${[...TEXTS, 'regex'].join(', ')}` },
  )

/** Compared are each line of the header, and each of its comma-separated elements. */
const headerCondition = namedCondition('header', headerName)
const cookieCondition = namedCondition('cookie', cookieName)
/** Compared with the query as it was sent, not decoded. */
const queryCondition = namedCondition('query', queryName)

/** A part of the subject of the client's certificate, such as `CN` or `OU` (RFC 4514 section 3), in any case. */
const partOfName = z
  .string()
  .max(32)
  .regex(/^[A-Za-z][A-Za-z0-9]*$/, 'is not a part of a name, such as CN or OU')
const clientNameCondition = namedCondition('client-name', partOfName)
/** Whether the client has presented a valid certificate. An invalid one that the listener accepts counts as absent. */
const clientCertificateCondition = z.strictObject({
  on: z.literal('client-certificate'),
  values: valuesOf(z.enum(['present', 'absent'])),
  not,
})

/** The client's address. */
const sourceCondition = z.strictObject({ on: z.literal('source'), values: valuesOf(looseCidrText), not })

/** A condition holds when one of its values fits. */
export const routeCondition = z.discriminatedUnion(
  'on',
  [
    hostCondition,
    pathCondition,
    methodCondition,
    headerCondition,
    cookieCondition,
    queryCondition,
    sourceCondition,
    clientCertificateCondition,
    clientNameCondition,
  ],
  { error: 'must be one of host, path, method, header, cookie, query, source, client-certificate, client-name' },
)
export type RouteCondition = z.infer<typeof routeCondition>
