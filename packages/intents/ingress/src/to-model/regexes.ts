import { MOST_REGEXES, whyUnusable } from '@spout/model/regex'

const LONGEST = 512
const PRINTABLE = /^[ -~]+$/
/** Characters that an expression for paths may have: no space, and none that a path can contain only as %XX. */
const OF_PATHS = /^[!$-;=?-_a-~]+$/

/** The regular expressions of one load balancer, whose number is limited. */
export class Regexes {
  readonly #used = new Set<string>()

  /** Like `refusalOf`, for an expression for paths. */
  refusalOfPath(pattern: string): string | null {
    return OF_PATHS.test(pattern) ? this.refusalOf(pattern) : 'The expression has characters that no path has.'
  }

  /**
   * Registers an expression.
   * @returns why it cannot be used; null if it can
   */
  refusalOf(pattern: string): string | null {
    if (this.#used.has(pattern)) return null
    if (!PRINTABLE.test(pattern)) return 'The expression has characters that no request has.'
    if (pattern.length > LONGEST) return `The expression has more than ${LONGEST} characters.`
    const why = whyUnusable(pattern, false)
    if (why !== null) return `The expression ${why}.`
    if (this.#used.size >= MOST_REGEXES) return `One address has at most ${MOST_REGEXES} different expressions.`
    this.#used.add(pattern)
    return null
  }
}

/** The literal characters at the start of an expression. Every match begins with these. */
export function literalBegin(pattern: string): string {
  if (pattern.includes('|')) return '/'
  const literal = /^\/[A-Za-z0-9/_-]{0,99}/.exec(pattern)?.[0] ?? '/'
  const next = pattern[literal.length] ?? ''
  // An optional or repeated character may be absent.
  return '?*{'.includes(next) && next !== '' && literal.length > 1 ? literal.slice(0, -1) : literal
}
