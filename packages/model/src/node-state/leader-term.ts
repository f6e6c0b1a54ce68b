/** A term of leading: the store that counts terms, and the fencing token of this one. */
export interface LeaderTerm {
  readonly store: string
  /** It grows with each term. */
  readonly token: number
}

/** The header of a state stream that says whose term it belongs to. A stream ends with its term. */
export const LEADER_HEADER = 'spout-leader'

export const formatLeaderTerm = ({ store, token }: LeaderTerm): string => `${store} ${token}`

/** @returns null when the header is absent, or none that we write */
export function parseLeaderTerm(header: string | readonly string[] | undefined): LeaderTerm | null {
  const [, store, token] = /^([0-9a-z-]{1,64}) (\d{1,15})$/.exec(typeof header === 'string' ? header : '') ?? []
  return store === undefined ? null : { store, token: Number(token) }
}
