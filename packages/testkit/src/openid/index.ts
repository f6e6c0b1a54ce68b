/** A real provider of OpenID Connect, and its users. */
export { logInAt } from './log-in-at.ts'
export { OpenIdServer, type OpenIdServerOptions, type PersonClaims } from './openid-server.ts'
export { type Forgery, newSigningKey } from './signing-key.ts'
