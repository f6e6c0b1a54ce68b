/** An address that the mover binds while this node is master of its shard. */
export interface MoverRow {
  readonly shard: number
  readonly address: string
  /** Path of a namespace; null is the mover's own. */
  readonly netns: string | null
  readonly dev: string
}

/** The mover's input, its file `addresses`. */
export interface MoverTable {
  /** Increases with every version. */
  readonly generation: number
  /** After a longer sleep another node may have taken over. */
  readonly freezeMs: number
  /** VRID by shard. */
  readonly routers: ReadonlyMap<number, number>
  /** By `rowKey`. */
  readonly rows: MoverRows
}

/** Its keys are the lines of the file, so that each line is formatted once. */
export type MoverRows = ReadonlyMap<string, MoverRow>

export const EMPTY_TABLE: MoverTable = { generation: 0, freezeMs: 1000, routers: new Map(), rows: new Map() }

export const rowKey = ({ shard, address, netns, dev }: MoverRow): string => `${shard} ${address} ${netns ?? '-'} ${dev}`

export function printTable({ generation, freezeMs, routers, rows }: MoverTable): string {
  return [
    `generation ${generation}`,
    `freeze ${freezeMs}`,
    ...Array.from(routers, ([shard, routerId]) => `router ${shard} ${routerId}`),
    ...rows.keys(),
    '',
  ].join('\n')
}

/** Parses what an earlier agent wrote; null if it is not a complete table. */
export function parseTable(text: string): MoverTable | null {
  if (!text.endsWith('\n')) return null
  let generation: number | null = null
  let freezeMs = EMPTY_TABLE.freezeMs
  const routers = new Map<number, number>()
  const rows = new Map<string, MoverRow>()
  for (const line of text.slice(0, -1).split('\n')) {
    const [first = '', ...rest] = line.split(' ')
    if (first === 'generation') generation = Number(rest[0])
    else if (first === 'freeze') freezeMs = Number(rest[0])
    else if (first === 'router') routers.set(Number(rest[0]), Number(rest[1]))
    else {
      const [address = '', netns = '', dev = ''] = rest
      rows.set(line, { shard: Number(first), address, netns: netns === '-' ? null : netns, dev })
    }
  }
  return generation === null || !Number.isSafeInteger(generation) ? null : { generation, freezeMs, routers, rows }
}
