// Requests and replies of `spout-helper` about processes: time slices, and what the helper has done.
// docs/design/0002-native-helper.md describes each op.

export interface TimeSlice {
  readonly pid: number
  /** Microseconds, from 100 to 100,000. */
  readonly us: number
}

export interface HelperStats {
  readonly requests: number
  readonly netlinkMessages: number
  /** Transactions that changed nftables. */
  readonly transactions: number
  readonly probesInFlight: number
}
