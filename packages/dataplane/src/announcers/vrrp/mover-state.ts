export type ShardStateName = 'master' | 'backup' | 'fault' | 'stopped'

export interface MoverShard {
  readonly shard: number
  readonly state: ShardStateName
  readonly sinceMs: number
  readonly takeovers: number
  readonly lastMove: {
    readonly to: ShardStateName
    readonly atMs: number
    readonly reason: string
    readonly addresses: number
    readonly tookUs: number
    /** Time from the previous master's last advert to this takeover; null if none was heard, or this is no takeover. */
    readonly silentUs: number | null
  } | null
}

/** The mover's state, its file `state.json`. */
export interface MoverState {
  readonly pid: number
  /** The newest table that is completely applied. */
  readonly generation: number
  readonly shards: readonly MoverShard[]
  readonly failed: readonly { readonly address: string; readonly error: string }[]
  readonly swept: number
  readonly conflicts: number
}

/** Null for any other text. */
export function parseMoverState(text: string): MoverState | null {
  try {
    const state = JSON.parse(text) as MoverState
    const whole =
      Number.isSafeInteger(state.pid) &&
      Number.isSafeInteger(state.generation) &&
      Array.isArray(state.shards) &&
      Array.isArray(state.failed)
    return whole ? state : null
  } catch {
    return null
  }
}
