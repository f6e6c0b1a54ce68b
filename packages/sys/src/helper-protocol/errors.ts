/** A change of an `addr` or `route` request that the kernel refused. */
export interface RefusedChange {
  readonly index: number
  readonly errno: string
}

/** The helper's reply to a request that failed. */
export class HelperError extends Error {
  override readonly name = 'HelperError'
  /** The kernel's error code (`EEXIST`); null if the request itself was invalid. */
  readonly errno: string | null
  /** Index of the refused change (the first) in `changes`, if the kernel tells it. */
  readonly index: number | null
  /** Index of the record in that change's `elements`. */
  readonly element: number | null
  /** All refused changes of an `addr` or `route` request; the others were applied. */
  readonly refused: readonly RefusedChange[]

  constructor(
    message: string,
    details: {
      readonly errno?: string
      readonly index?: number
      readonly element?: number
      readonly refused?: readonly RefusedChange[]
    } = {},
  ) {
    super(message)
    this.errno = details.errno ?? null
    this.index = details.index ?? null
    this.element = details.element ?? null
    this.refused = details.refused ?? []
  }
}

/**
 * The helper died or is not running. The request may or may not have been executed, so the caller must compare its
 * whole state.
 */
export class HelperLost extends Error {
  override readonly name = 'HelperLost'
}
