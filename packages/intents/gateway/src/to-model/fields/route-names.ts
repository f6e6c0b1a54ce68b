import { createHash } from 'node:crypto'

/** A name that a route of the load balancer keeps: who made it, and where it stands. Short, since names are bounded. */
export const routeNameOf = (maker: string, place: string): string =>
  `${maker}/${createHash('sha256').update(place).digest('base64url').slice(0, 12)}`
