import { crc32 } from 'node:zlib'
import { type ProcessIdentity, readFileOrNull, writeFileAtomically } from '@spout/sys'
import type { FrontendCounters, TrafficCounters } from '../commands/show.ts'
import type { BackendShape, FrontendShape } from '../sections/shape.ts'
import type { Slot } from '../sections/slot-table.ts'

const STATE_VERSION = 2

/**
 * The state that the next agent needs to adopt a process: its identity and the slot assignments. Servers are read from
 * the process.
 */
export interface SavedState {
  readonly version: typeof STATE_VERSION
  /** Numbers the processes of this domain; part of the stats socket's name. */
  readonly generation: number
  readonly process: ProcessIdentity
  /** `boundsOf` of the process; absent in older files. */
  readonly bounds?: string
  /** The addresses that the process listens on. A process with other addresses is not adopted. */
  readonly addresses: readonly string[]
  readonly frontends: readonly Slot<FrontendShape>[]
  readonly backends: readonly Slot<BackendShape>[]
  /** By frontend slot: the content id of its fallback certificate. Absent in older files, and if there is none. */
  readonly fallbacks?: readonly (readonly [slot: number, contentId: string])[]
  /** By frontend slot: the content id of its clients' authorities. Absent as `fallbacks` are. */
  readonly clients?: readonly (readonly [slot: number, contentId: string])[]
  /** By frontend slot: the content id of the lists of revoked ones. Absent as `fallbacks` are. */
  readonly revocations?: readonly (readonly [slot: number, contentId: string])[]
  /** Counters of a slot when its owner got it. */
  readonly baselines: readonly (readonly [slot: number, counters: FrontendCounters])[]
  /** By backend slot: counters of earlier owners. Absent in older files, and if there is none. */
  readonly inherited?: readonly (readonly [slot: number, counters: TrafficCounters])[]
}

/** Checksum over everything before it. It comes last, so that an older agent ignores it. */
const CHECKSUM = /,"checksum":"([0-9a-f]{8})"\}$/

/** Written in memory-backed /run, atomically. */
export function writeState(path: string, state: Omit<SavedState, 'version'>): Promise<void> {
  const body = JSON.stringify({ version: STATE_VERSION, ...state }).slice(0, -1)
  return writeFileAtomically(path, `${body},"checksum":"${checksum(body)}"}`)
}

/**
 * Null if there is no file, or none that this version can read, for example after damage. Then the proxy is started
 * anew.
 */
export async function readState(path: string): Promise<SavedState | null> {
  const text = (await readFileOrNull(path))?.toString('utf8') ?? null
  if (text === null) return null
  const sum = CHECKSUM.exec(text)
  // A damaged slot or process id looks like a valid one, and the agent would change another load balancer's servers.
  if (sum === null ? text.includes('"checksum"') : sum[1] !== checksum(text.slice(0, sum.index))) return null
  try {
    const state = JSON.parse(text) as SavedState | null
    return state?.version === STATE_VERSION ? state : null
  } catch {
    return null
  }
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')
