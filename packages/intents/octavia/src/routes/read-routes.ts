import type { Resource } from '../resources/resource.ts'
import { printObject } from '../wire/field.ts'
import { parseListQuery, printPage } from './list-query.ts'
import type { Call, Route } from './route.ts'

interface Readable<R> {
  readonly path: string
  /** The root attribute of a list's links: Octavia does not always derive it from the list's. */
  readonly links: string
  /** Those that the caller may see, in the default order. @throws OctaviaFault 403 */
  readonly list: (call: Call) => readonly R[]
  /** The one that the path names. @throws OctaviaFault 403, 404 */
  readonly find: (call: Call) => R
}

/** Reading a kind of object that is not part of a load balancer: a list, and one of it. */
export function readRoutes<D, R>(
  { root, plural, fields }: Resource<D, R>,
  { path, links, list, find }: Readable<R>,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path,
      status: 200,
      handle: (call) => printPage(plural, fields, list(call), parseListQuery(call.query), call.url, { links }),
    },
    {
      method: 'GET',
      path: `${path}/:id`,
      status: 200,
      handle: (call) => ({ [root]: printObject(fields, find(call), parseListQuery(call.query).fields) }),
    },
  ]
}
