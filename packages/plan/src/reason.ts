import type { ErrorCode, ErrorParams } from '@spout/model'

/** The reason for a decision: a code, and a sentence for the object's user. */
export interface Reason {
  readonly code: string
  readonly message: string
}

/** Why a request is refused, as a row of the model's error table: `new SpoutError(code, params, problem)`. */
export interface Problem {
  readonly code: ErrorCode
  readonly params: ErrorParams
  /** All fields with the same fault, where known; `params.field` is the first. */
  readonly fields?: readonly string[]
}

export const problem = (code: ErrorCode, params: ErrorParams): Problem => ({ code, params })
