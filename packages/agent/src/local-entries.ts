import type { StateLine } from '@spout/client/agent-link'
import { entryHash } from '@spout/model/entry-hash'
import { GROUP_KEY } from '@spout/model/entry-keys'
import { isLocalKey, LOCAL_SHARD } from '@spout/model/local-entries'
import { type GroupEntry, NO_GROUP_PART, type NodeStateEntry } from '@spout/model/node-state'
import type { Held } from './wanted-state.ts'

/** What the node's own settings want of it. */
export interface LocalNodeState {
  readonly entries: readonly NodeStateEntry[]
  /** Its part in VRRP, with the one shard `LOCAL_SHARD`. */
  readonly group: GroupEntry
}

/**
 * The entries of the node's own settings, as lines of a state stream beside those of the control plane. The control
 * plane can neither change nor remove them, and they change nothing of it: their keys differ, and the entry `group` has
 * the shards of both.
 */
export class LocalEntries {
  readonly #local: LocalNodeState | null
  readonly #onConflict: (message: string) => void
  /** The control plane's entry `group`. Null: it sent none. */
  #linkGroup: GroupEntry | null = null

  /**
   * @param local null: the settings name nothing
   * @param onConflict called with why a shard of the control plane is left out
   */
  constructor(local: LocalNodeState | null, onConflict: (message: string) => void) {
    this.#local = local
    this.#onConflict = onConflict
  }

  /**
   * The lines of a start. What earlier settings named is deleted.
   * @param saved the state of an earlier process
   */
  start(saved: ReadonlyMap<string, Pick<Held, 'entry'>>): readonly StateLine[] {
    const before = saved.get(GROUP_KEY)?.entry
    this.#linkGroup = before?.kind === 'group' ? withoutLocalShard(before) : null
    const keys = new Set(this.#local?.entries.map(({ key }) => key))
    const gone = [...saved.keys()].filter((key) => isLocalKey(key) && !keys.has(key))
    // Without own settings, and without earlier ones, the group is left to the control plane.
    const isConcerned = this.#local !== null || hasLocalShard(before)
    return [
      ...gone.map((key) => ({ type: 'delete', key }) as const),
      ...this.#puts(),
      ...(isConcerned ? [this.#group()] : []),
    ]
  }

  /** The lines with which a stream of the control plane begins, since it names none of these entries. */
  begin(): readonly StateLine[] {
    this.#linkGroup = null
    return this.#puts()
  }

  /** The lines of the control plane, as they are for this node. */
  merge(lines: readonly StateLine[]): readonly StateLine[] {
    return lines.flatMap((line): readonly StateLine[] => {
      if (line.type === 'synced')
        return this.#local === null || this.#linkGroup !== null ? [line] : [this.#group(), line]
      if (line.type === 'heartbeat') return [line]
      const key = line.type === 'put' ? line.entry.key : line.key
      if (isLocalKey(key)) return []
      if (key !== GROUP_KEY || this.#local === null) return [line]
      this.#linkGroup = line.type === 'put' && line.entry.kind === 'group' ? line.entry : null
      return [this.#group()]
    })
  }

  #puts(): readonly StateLine[] {
    return this.#local?.entries.map(putLine) ?? []
  }

  /** The group with the shards of both. */
  #group(): StateLine {
    const own = this.#local?.group.vrrp ?? null
    if (own === null) return this.#linkGroup === null ? { type: 'delete', key: GROUP_KEY } : putLine(this.#linkGroup)
    const group = this.#linkGroup ?? NO_GROUP_PART
    if (group.vrrp === null) return putLine({ ...group, vrrp: own })
    const taken = new Set(own.shards.map(({ routerId }) => routerId))
    const shards = group.vrrp.shards.filter(({ number, routerId }) => {
      if (!taken.has(routerId)) return true
      this.#onConflict(`shard ${number} is left out: local.routerId is its VRRP router id ${routerId}`)
      return false
    })
    const times = shards.length === 0 ? { ...own, yield: group.vrrp.yield } : group.vrrp
    return putLine({ ...group, vrrp: { ...times, shards: [...shards, ...own.shards] } })
  }
}

const putLine = (entry: NodeStateEntry): StateLine => ({ type: 'put', hash: entryHash(entry), entry })

const hasLocalShard = (entry: NodeStateEntry | undefined): boolean =>
  entry?.kind === 'group' && entry.vrrp !== null && entry.vrrp.shards.some(({ number }) => number === LOCAL_SHARD)

/** What the control plane sent of a merged group. Null: nothing. */
function withoutLocalShard(group: GroupEntry): GroupEntry | null {
  if (!hasLocalShard(group) || group.vrrp === null) return group
  const shards = group.vrrp.shards.filter(({ number }) => number !== LOCAL_SHARD)
  const left = { ...group, vrrp: shards.length === 0 ? null : { ...group.vrrp, shards } }
  return JSON.stringify(left) === JSON.stringify(NO_GROUP_PART) ? null : left
}
