// Requests and replies of `spout-helper` about processes and the clock: time slices, and what the helper has done.
// docs/design/0002-native-helper.md describes each op.

export interface TimeSlice {
  readonly pid: number
  /** Microseconds, from 100 to 100,000. */
  readonly us: number
}

export interface ClockState {
  /** Whether something keeps the kernel's clock right (`STA_UNSYNC` of `adjtimex`). */
  readonly synchronised: boolean
}

export interface HelperStats {
  readonly requests: number
  readonly netlinkMessages: number
  /** Transactions that changed nftables. */
  readonly transactions: number
  readonly probesInFlight: number
}
