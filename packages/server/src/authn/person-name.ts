const PREFIX = 'oidc:'

/** The name of a user whom an OpenID Connect provider vouches for: it cannot be mistaken for that of a user of ours. */
export const nameOfPerson = (name: string): string => `${PREFIX}${name}`

/** Whether a user is known by an OpenID Connect provider alone, whose word has to be heard at each login. */
export const isNameOfPerson = (name: string): boolean => name.startsWith(PREFIX)
