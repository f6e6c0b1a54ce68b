/** Why a condition is False. A condition without an objection is True. */
export interface Objection {
  /** CamelCase, of the API's list where it has one. */
  readonly reason: string
  readonly message: string
}

export const objection = (reason: string, message: string): Objection => ({ reason, message })
