/** An attack by a hostile neighbour. It stands for other machines (`OtherMachines`). */
export interface Attack {
  readonly name: string
  /** The part of the victim that is measured meanwhile: its traffic (`data`, `floods`), or the API. */
  readonly plane: 'data' | 'floods' | 'api'
  /** Nothing of it reaches Spout. The row shows what the machine itself does to the victim, and does not count it. */
  readonly isControl?: true
  /** Resolves once the attack runs. */
  begin(): Promise<Running>
}

export interface Running {
  /** Ends it; resolves with a description of what the attacker achieved. */
  end(): Promise<string>
}

/** Nobody attacks: its ratio is what the machine itself does to the figures of the others. */
export const NOBODY: Attack = {
  name: 'nobody',
  plane: 'data',
  isControl: true,
  begin: async () => ({ end: async () => 'no attacker' }),
}
