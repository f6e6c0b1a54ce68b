/** What a condition of the API says about something: True for null, else False with this reason. */
export interface Objection {
  /** CamelCase, of the API's list where it has one. */
  readonly reason: string
  readonly message: string
}

export const objection = (reason: string, message: string): Objection => ({ reason, message })
