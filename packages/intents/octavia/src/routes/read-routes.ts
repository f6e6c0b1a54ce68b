import type { Resource } from '../resources/resource.ts'
import { printObject } from '../wire/field.ts'
import { parseListQuery, printPage } from './list-query.ts'
import type { Call, Route } from './route.ts'

interface Readable<R> {
  readonly path: string
  /** The root attribute of a list's links. Octavia does not always derive it from that of the list. */
  readonly links: string
  /** Lists the objects that the caller may see, in the default order. @throws OctaviaFault 403 */
  readonly list: (call: Call) => readonly R[]
  /** Finds the object that the path names. @throws OctaviaFault 403, 404 */
  readonly find: (call: Call) => R
}

/** The routes that read a kind of objects outside of load balancers: a list, and a single one. */
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
