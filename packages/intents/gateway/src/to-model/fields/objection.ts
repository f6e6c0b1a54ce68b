import { printable } from '@spout/connector'

/** Why a condition is False. A condition without an objection is True. */
export interface Objection {
  /** CamelCase; one of the API's reasons where it defines a fitting one. */
  readonly reason: string
  readonly message: string
}

/**
 * @param message may contain text of users: it becomes one printable line. Conditions shorten a message that is too
 * long.
 */
export const objection = (reason: string, message: string): Objection => ({ reason, message: printable(message) })
