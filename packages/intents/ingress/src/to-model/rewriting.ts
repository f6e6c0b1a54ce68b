/** How `rewrite-target` rewrites requests for a path that is an expression. */
export type Rewriting =
  | { readonly type: 'none' }
  /** All requests get this path. */
  | { readonly type: 'whole'; readonly path: string }
  /** Elements are replaced: `takes` says which requests. */
  | { readonly type: 'elements'; readonly takes: PathMatch; readonly from: string; readonly to: string }
  | { readonly type: 'unknown' }

/** Null matches every path. */
type PathMatch = { readonly compare: 'elements' | 'prefix'; readonly value: string } | null

/** Characters of a path that stand for themselves; a dot is taken as one. */
const LITERAL = "(?<literal>(?:[A-Za-z0-9_~%@:,;=&!'/.-]|\\\\[./_-])*?)"
const shape = (tail: string): RegExp => new RegExp(`^${LITERAL}${tail}$`)

/** `(/|$)(.*)`: what the second group took follows. */
const SLASH_OR_END = shape('\\(\\/\\|\\$\\)\\(\\.\\*\\)')
/** `/(.*)` */
const AFTER_SLASH = shape('\\/\\(\\.\\*\\)')
/** `/?(.*)` */
const AFTER_OPTIONAL_SLASH = shape('\\/\\?\\(\\.\\*\\)')
/** `(/.*)?`, `(/.*)`, `(/.*|$)`, `(.*)`: with the slash. */
const WITH_SLASH = shape('\\((?:\\/\\.\\*|\\/\\.\\*\\|\\$|\\.\\*)\\)\\??')

/**
 * Reads a path and its target as a replacement of elements, which is what nearly all of them are for. Where groups do
 * something else it is `unknown`.
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

/** Whether it is a path that ends with a name. */
const isName = (text: string | undefined): text is string => text !== undefined && /^\/.*[^/]$/.test(text)

const prefix = (value: string): PathMatch => ({ compare: 'prefix', value })

const elements = (from: string, to: string) =>
  ({
    type: 'elements',
    takes: { compare: 'elements', value: from },
    from,
    to: to.replace(/\/+$/, '') || '/',
  }) as const
