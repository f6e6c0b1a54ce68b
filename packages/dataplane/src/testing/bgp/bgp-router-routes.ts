import type { ControlReply } from '../../announcers/bgp/control-reply.ts'

/** A route as the lab's router was told it. */
export interface RouterRoute {
  readonly prefix: string
  /** The session that it came by. */
  readonly from: string
  readonly nextHop: string | null
  /** `64512:5`, sorted. */
  readonly communities: readonly string[]
  readonly largeCommunities: readonly string[]
  readonly localPreference: number | null
  readonly med: number | null
  readonly path: string
}

/** Reads `show route PREFIX all`. */
export function parseRoutes({ lines }: ControlReply): readonly RouterRoute[] {
  const found: { prefix: string; from: string; fields: Map<string, string> }[] = []
  let prefix = ''
  for (const { text } of lines) {
    const head = /^(\S+)?\s+(?:unicast|unreachable|blackhole) \[(\S+)/.exec(text)
    const field = /^\s+BGP\.([a-z_]+):\s*(.*)$/.exec(text)
    if (head !== null) {
      prefix = head[1] ?? prefix
      found.push({ prefix, from: head[2] ?? '', fields: new Map() })
    } else if (field !== null) found.at(-1)?.fields.set(field[1] ?? '', (field[2] ?? '').trim())
  }
  return found.map(({ prefix, from, fields }) => {
    const number = (name: string) => (fields.has(name) ? Number(fields.get(name)) : null)
    return {
      prefix,
      from,
      nextHop: fields.get('next_hop')?.split(' ')[0] ?? null,
      communities: tuples(fields.get('community')),
      largeCommunities: tuples(fields.get('large_community')),
      localPreference: number('local_pref'),
      med: number('med'),
      path: fields.get('as_path') ?? '',
    }
  })
}

const tuples = (text = ''): readonly string[] =>
  Array.from(text.matchAll(/\(([0-9, ]+)\)/g), ([, inner = '']) => inner.replaceAll(/,\s*/g, ':')).toSorted()
