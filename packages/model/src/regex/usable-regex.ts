import { compileRegex } from './automaton.ts'
import { parseRegex } from './parse-regex.ts'
import { RegexError } from './regex-node.ts'

/** Limit of different expressions per listener. Each takes some 10 KB in a proxy, and up to 10 ms to compile here. */
export const MOST_REGEXES = 50

/** Limit of cached results. They are cached because a load balancer is checked at each of its changes. */
const MOST_KEPT = 2_000
const found = new Map<string, string | null>()

/**
 * Why a proxy cannot use an expression; null if it can.
 * @param anyCase letters stand for both cases
 */
export function whyUnusable(pattern: string, anyCase: boolean): string | null {
  const key = `${anyCase ? 'i' : ''}/${pattern}`
  const known = found.get(key)
  const why = known === undefined ? compiled(pattern, anyCase) : known
  found.delete(key)
  found.set(key, why)
  const [oldest] = found.keys()
  if (found.size > MOST_KEPT && oldest !== undefined) found.delete(oldest)
  return why
}

function compiled(pattern: string, anyCase: boolean): string | null {
  try {
    compileRegex(parseRegex(pattern, anyCase))
    return null
  } catch (error) {
    if (error instanceof RegexError) return error.message
    throw error
  }
}
