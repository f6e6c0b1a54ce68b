import type { Retention } from '../change-log.ts'
import type { Conflict } from '../condition.ts'
import type { PlannedWrite } from '../planned-write.ts'
import type { Ref } from '../store.ts'

/** A write on its way to the thread that writes. The value itself stays here. */
export type SentWrite = Omit<PlannedWrite, 'value'>

export interface WriterOptions {
  readonly path: string
  readonly retention: Retention
  /** The WAL is checkpointed at this many pages. */
  readonly checkpointPages: number
}

export type Work =
  | { readonly op: 'open'; readonly options: WriterOptions }
  | { readonly op: 'flush'; readonly batch: readonly (readonly SentWrite[])[] }
  | { readonly op: 'compact'; readonly sequence: number }
  | { readonly op: 'probe' }
  | { readonly op: 'close' }

/** A request to the thread. It performs one at a time, in order, and answers each. The caller numbers its stores. */
export type Request = Work & { readonly store: number }

/** The result of one commit of a batch. */
export type Outcome =
  /** Durable. `scopes` of the objects it wrote; of deleted ones, what they had. */
  | { readonly sequence: number; readonly scopes: readonly (string | null)[] }
  | { readonly conflict: Conflict; readonly ref: Ref }
  /** Nothing of it was applied: its edits would cost more than the whole values. */
  | { readonly wholeIsDue: true }
  /** The disk failed. Nothing of it is stored. */
  | { readonly refused: string }

export interface WriterState {
  /** Why commits are refused until a probe succeeds; null while they are accepted. */
  readonly refusal: string | null
  /** Changes up to this sequence are forgotten. */
  readonly floor: number
}

export interface Answer {
  readonly state: WriterState
  /** Of a flush. */
  readonly outcomes: readonly Outcome[]
  /** Why nothing was done: the file cannot be used, or the disk failed; null when it was done, and of a flush. */
  readonly error: string | null
}

export type Message =
  /** The answer to the oldest request without one. */
  | (Answer & { readonly store: number })
  /** The new state of a store, after a checkpoint that no request asked for. */
  | { readonly store: number; readonly state: WriterState }
