/**
 * The right to do what only one process may do at a time, such as planning. Its holder renews it, and loses it when it
 * does not: then another may take it.
 */
export interface Lease {
  readonly name: string
  /** Who holds it. No two processes have the same, nor one process before and after its restart. */
  readonly holder: string
  /**
   * The fencing token: it grows whenever the lease changes hands, so that writes of an earlier holder can be told from
   * those of the present one. In a store that one process owns it may begin anew with the process, since nothing of an
   * earlier one can still write.
   */
  readonly token: number
}

export interface LeaseClaim {
  readonly name: string
  readonly holder: string
  /** How long nobody else gets the lease, from the moment at which the store takes the claim. */
  readonly ttlMs: number
}

/** The leases of a store. Each name is a lease of its own. */
export interface Leases {
  /**
   * The id of the store that keeps the tokens, however often processes start: among its tokens the greater is the later.
   * Absent: they may begin anew, so nobody may remember them for longer than the process runs.
   */
  readonly keptIn?: string
  /**
   * Takes the lease if nobody has it, or renews the claimer's own. A holder that renews too late keeps the lease, with
   * its token, if nobody took it meanwhile. When a new holder has it, no commit under an earlier token is under way.
   * @returns who holds it now: the claimer, or another
   * @throws SpoutError Unavailable, StoreUnavailable
   */
  claim(claim: LeaseClaim): Promise<Lease>
  /** Gives the lease up, so that others need not wait. Does nothing if it was lost. */
  release(lease: Lease): Promise<void>
}
