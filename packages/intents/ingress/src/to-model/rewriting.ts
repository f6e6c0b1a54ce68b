/** What `rewrite-target` does to requests for a path that is a regular expression. */
export type Rewriting =
  | { readonly type: 'none' }
  /** Every request gets this path. */
  | { readonly type: 'whole'; readonly path: string }
  /** The leading elements `from` are replaced by `to`, in requests that `takes` matches. */
  | { readonly type: 'elements'; readonly takes: PathMatch; readonly from: string; readonly to: string }
  /** Something else, which is not supported. */
  | { readonly type: 'unknown' }

/** Null matches every path. */
type PathMatch = { readonly compare: 'elements' | 'prefix'; readonly value: string } | null

/** Characters of a path that stand for themselves. A dot counts as one of these. */
const LITERAL = "(?<literal>(?:[A-Za-z0-9_~%@:,;=&!'/.-]|\\\\[./_-])*?)"
const shape = (tail: string): RegExp => new RegExp(`^${LITERAL}${tail}$`)

/** `(/|$)(.*)`: the second group is the rest of the path. */
const SLASH_OR_END = shape('\\(\\/\\|\\$\\)\\(\\.\\*\\)')
/** `/(.*)` */
const AFTER_SLASH = shape('\\/\\(\\.\\*\\)')
/** `/?(.*)` */
const AFTER_OPTIONAL_SLASH = shape('\\/\\?\\(\\.\\*\\)')
/** `(/.*)?`, `(/.*)`, `(/.*|$)`, `(.*)`: the group includes the slash. */
const WITH_SLASH = shape('\\((?:\\/\\.\\*|\\/\\.\\*\\|\\$|\\.\\*)\\)\\??')

/**
 * Interprets a path and its target as a replacement of leading elements, which is what most are for. If groups are used
 * for something else it is `unknown`.
 */
export function rewritingOf(path: string, target: string): Rewriting {
  if (!target.includes('$')) return { type: 'whole', path: target }
  const [, to = '', group = ''] = /^(\/[^$]*|)\$(\d)$/.exec(target) ?? []
  const own = (pattern: RegExp) => pattern.exec(path)?.groups?.['literal']?.replaceAll('\\', '')
  const [orEnd, after, optional, whole] = [SLASH_OR_END, AFTER_SLASH, AFTER_OPTIONAL_SLASH, WITH_SLASH].map(own)
  if (group === '2' && to.endsWith('/') && isName(orEnd)) return elements(orEnd, to)
  if (group !== '1') return { type: 'unknown' }
  if (to.endsWith('/') && after === '') return to === '/' ? { type: 'none' } : { ...elements('/', to), takes: null }
  if (to.endsWith('/') && isName(after)) return { ...elements(after, to), takes: prefix(`${after}/`) }
  if (to.endsWith('/') && isName(optional)) return elements(optional, to)
  if (!to.endsWith('/') && isName(whole)) return elements(whole, to)
  return { type: 'unknown' }
}

/** Whether a text is a path that does not end with a slash. */
const isName = (text: string | undefined): text is string => text !== undefined && /^\/.*[^/]$/.test(text)

const prefix = (value: string): PathMatch => ({ compare: 'prefix', value })

const elements = (from: string, to: string) =>
  ({
    type: 'elements',
    takes: { compare: 'elements', value: from },
    from,
    to: to.replace(/\/+$/, '') || '/',
  }) as const
