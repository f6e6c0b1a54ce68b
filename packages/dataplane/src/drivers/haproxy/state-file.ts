import { crc32 } from 'node:zlib'
import { type ProcessIdentity, readFileOrNull, writeFileAtomically } from '@spout/sys'
import type { BackendShape, FrontendShape } from './shape.ts'
import type { FrontendCounters } from './show.ts'
import type { Slot } from './slot-table.ts'

const STATE_VERSION = 2

/** What the next agent must know to take a process over: which it is and who has which slot. Servers are read back. */
export interface SavedState {
  readonly version: typeof STATE_VERSION
  /** Counts the processes of this domain; names the stats socket. */
  readonly generation: number
  readonly process: ProcessIdentity
  /** What clients of the process are bound to (`boundsOf`); absent in what was written before there were bounds. */
  readonly bounds?: string
  /** What the process listens on: a process of other addresses is not taken over. */
  readonly addresses: readonly string[]
  readonly frontends: readonly Slot<FrontendShape>[]
  readonly backends: readonly Slot<BackendShape>[]
  /** Counters of a slot when its owner got it. */
  readonly baselines: readonly (readonly [slot: number, counters: FrontendCounters])[]
}

/** Stands last, over all that is before it. An agent of before there were checksums reads past it. */
const CHECKSUM = /,"checksum":"([0-9a-f]{8})"\}$/

/** Written beside the process, in memory-backed /run: whole or not at all. */
export function writeState(path: string, state: Omit<SavedState, 'version'>): Promise<void> {
  const body = JSON.stringify({ version: STATE_VERSION, ...state }).slice(0, -1)
  return writeFileAtomically(path, `${body},"checksum":"${checksum(body)}"}`)
}

/** Null when there is none, or none that this version can read, as after damage: the proxy is started anew then. */
export async function readState(path: string): Promise<SavedState | null> {
  const text = (await readFileOrNull(path))?.toString('utf8') ?? null
  if (text === null) return null
  const sum = CHECKSUM.exec(text)
  // A slot or a process id that rotted reads as well as the right one: the agent would change another load balancer's servers.
  if (sum === null ? text.includes('"checksum"') : sum[1] !== checksum(text.slice(0, sum.index))) return null
  try {
    const state = JSON.parse(text) as SavedState | null
    return state?.version === STATE_VERSION ? state : null
  } catch {
    return null
  }
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')
