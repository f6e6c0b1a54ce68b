import { createHash } from 'node:crypto'

/**
 * The name of a route of the load balancer, by which the route keeps its id. The place is hashed, because names have a
 * length limit.
 * @param maker the object, and the part of it, that the route is made of; begins with the object's UID
 * @param place the listener and the host
 */
export const routeNameOf = (maker: string, place: string): string =>
  `${maker}/${createHash('sha256').update(place).digest('base64url').slice(0, 12)}`
