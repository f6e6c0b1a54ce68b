import type { ErrorCode, ErrorParams } from '@spout/model'

/** Why something was decided so: a word for machines and a sentence for the user of the object. */
export interface Reason {
  readonly code: string
  readonly message: string
}

/** Why a wish cannot be granted, as a row of the model's error table: `new SpoutError(code, params)` says it. */
export interface Problem {
  readonly code: ErrorCode
  readonly params: ErrorParams
}

export const problem = (code: ErrorCode, params: ErrorParams): Problem => ({ code, params })
