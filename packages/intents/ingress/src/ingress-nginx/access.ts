import { looseCidrText } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

/** The clients that may send requests, by address. */
export interface Access {
  /** Networks in canonical text; null: all networks except those in `deny`. */
  readonly allow: readonly string[] | null
  readonly deny: readonly string[]
}

const MOST_NETWORKS = 1_000

/**
 * Reads the lists of networks. A list with an invalid network is refused: without it, too many or too few clients would
 * be admitted.
 */
export function accessOf(read: AnnotationReader): Access {
  const lists = ['whitelist-source-range', 'allowlist-source-range'].flatMap((name) => networksOf(read, name) ?? [])
  return {
    allow: lists.length === 0 ? null : [...new Set(lists)],
    deny: networksOf(read, 'denylist-source-range') ?? [],
  }
}

function networksOf(read: AnnotationReader, name: string): readonly string[] | undefined {
  const list = read.list(name)
  if (list === undefined) {
    if (read.text(name) !== undefined) read.refuse(name, 'it names no network')
    return undefined
  }
  const parsed = list.map((text) => looseCidrText.safeParse(text))
  if (parsed.some(({ success }) => !success)) read.refuse(name, 'an item is not a network such as 10.0.0.0/8')
  else if (list.length > MOST_NETWORKS) read.refuse(name, `it names more than ${MOST_NETWORKS} networks`)
  return parsed.flatMap(({ data }) => data ?? [])
}
