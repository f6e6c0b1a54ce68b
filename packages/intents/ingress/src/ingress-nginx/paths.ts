import { pathText } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

/** How the paths of an Ingress are interpreted. */
export interface Paths {
  /** Whether they are regular expressions. */
  readonly useRegex: boolean
  /** What replaces the path; `$1` stands for the match of the first group. */
  readonly rewriteTarget: string | null
  /** Aliases of its first host. */
  readonly aliases: readonly string[]
}

export function pathsOf(read: AnnotationReader): Paths {
  const target = read.text('rewrite-target')
  // A wrong target could expose a path of the pods that must not be reachable.
  const isPath = target === undefined || pathText.safeParse(target.replace(/^\$/, '/$')).success
  if (!isPath) read.refuse('rewrite-target', 'it is not a path')
  return {
    useRegex: read.flag('use-regex') || target !== undefined,
    rewriteTarget: isPath ? (target ?? null) : null,
    aliases: aliasesOf(read),
  }
}

const ALIAS = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]{0,250}[a-z0-9_])?$/
const MOST_ALIASES = 100

function aliasesOf(read: AnnotationReader): readonly string[] {
  const all = (read.list('server-alias') ?? []).map((text) => text.toLowerCase())
  const names = all.filter((text) => ALIAS.test(text))
  if (names.length < all.length) read.invalid('server-alias', 'has an item that is not a host name')
  if (names.length > MOST_ALIASES) read.invalid('server-alias', `has more than ${MOST_ALIASES} names`)
  return names.slice(0, MOST_ALIASES)
}
