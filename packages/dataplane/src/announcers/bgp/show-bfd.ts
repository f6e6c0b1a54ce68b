import type { ControlReply } from './control-reply.ts'

export type BfdState = 'up' | 'down' | 'init' | 'admin-down'

/** One row of `show bfd sessions`. */
export interface ShownBfd {
  readonly address: string
  readonly state: BfdState
  /** Time of the last change, `YYYY-MM-DD hh:mm:ss[.sss]`, in the daemon's zone. */
  readonly since: string
  /** Negotiated transmit interval; the neighbour counts as lost after the timeout. */
  readonly intervalMs: number
  readonly timeoutMs: number
}

const STATES: Readonly<Record<string, BfdState>> = { Up: 'up', Down: 'down', Init: 'init', AdminDown: 'admin-down' }
const ROW =
  /^\s*([0-9A-Fa-f:.]+)\s+(\S+)\s+(Up|Down|Init|AdminDown)\s+(\d{4}-\d\d-\d\d \S+)\s+([0-9]+\.[0-9]+)\s+([0-9]+\.[0-9]+)\s*$/

/** Pure; unknown lines are skipped. */
export const parseBfd = ({ lines }: ControlReply): readonly ShownBfd[] =>
  lines.flatMap(({ text }) => {
    const [, address = '', , state = '', since = '', interval, timeout] = ROW.exec(text) ?? []
    return STATES[state] === undefined
      ? []
      : [{ address, state: STATES[state], since, intervalMs: toMs(interval), timeoutMs: toMs(timeout) }]
  })

const toMs = (seconds = '0'): number => Math.round(Number(seconds) * 1000)
