import { printable } from '@spout/connector'

/** Why a condition is False. A condition without an objection is True. */
export interface Objection {
  /** CamelCase, of the API's list where it has one. */
  readonly reason: string
  readonly message: string
}

/** @param message may hold texts of users: it becomes one printable line. Conditions cut what is too long. */
export const objection = (reason: string, message: string): Objection => ({ reason, message: printable(message) })
