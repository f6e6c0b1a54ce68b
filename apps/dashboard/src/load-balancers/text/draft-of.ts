import type { ShownLoadBalancer } from '../../api/load-balancers.ts'

/** Fields that the server sets. They are not written back. */
const SET_BY_SERVER: ReadonlySet<string> = new Set([
  ...['status', 'generation', 'createdAt', 'updatedAt', 'networkId', 'leftNodeId', 'zoneId'],
  ...['addressText', 'monitorAddressText'],
])
/** Lists that mean the same when they are empty and when they are left out. */
const MAY_BE_LEFT_OUT: ReadonlySet<string> = new Set(['tags', 'insertHeaders', 'routes'])

/**
 * A document as people edit it, and as `PUT` takes it. What the server sets is left out, and so is what says nothing: a
 * part's null, empty text or empty list whose absence means the same. Parts keep their ids, so that a change is a
 * change and not another part.
 */
export function draftOf(document: ShownLoadBalancer): Readonly<Record<string, unknown>> {
  const { vips, listeners, pools, annotations, ...own } = document
  return {
    ...lean(own),
    vips,
    listeners: listeners.map((listener) => lean({ ...listener, routes: listener.routes.map(lean) })),
    pools: pools.map(({ monitor, ...pool }) => ({
      ...lean({ ...pool, members: pool.members.map(lean) }),
      ...(monitor !== null && { monitor: lean(monitor) }),
    })),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

const lean = (part: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(part).filter(
      ([field, value]) =>
        !SET_BY_SERVER.has(field) &&
        value !== null &&
        value !== '' &&
        !(MAY_BE_LEFT_OUT.has(field) && Array.isArray(value) && value.length === 0),
    ),
  )
