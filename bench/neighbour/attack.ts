/** What a hostile neighbour does. It stands for other machines (`OtherMachines`). */
export interface Attack {
  readonly name: string
  /** What of the victim is measured meanwhile. */
  readonly plane: 'data' | 'api'
  /** Resolves once the attack is under way. */
  begin(): Promise<Running>
}

export interface Running {
  /** Ends it; resolves with what the attacker achieved, in words. */
  end(): Promise<string>
}
