/** An attack by a hostile neighbour. It stands for other machines (`OtherMachines`). */
export interface Attack {
  readonly name: string
  /** The part of the victim that is measured meanwhile. */
  readonly plane: 'data' | 'api'
  /** Resolves once the attack runs. */
  begin(): Promise<Running>
}

export interface Running {
  /** Ends it; resolves with a description of what the attacker achieved. */
  end(): Promise<string>
}
