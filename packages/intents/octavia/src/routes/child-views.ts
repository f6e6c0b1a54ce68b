import type { ChildRef } from '@spout/admission/contract'
import type { LoadBalancer } from '@spout/model'
import type { Resource } from '../resources/resource.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { printObject } from '../wire/field.ts'
import { findChild, justWritten, listed, snapshot } from './find.ts'
import { parseListQuery, printPage } from './list-query.ts'
import type { Call } from './route.ts'

/**
 * Shows listeners, pools and health monitors, which all work in the same way.
 * @param readings lists all children of the kind that a load balancer has
 */
export function childViews<D, R extends { readonly model: { readonly id: string } }>(
  kind: ChildRef['kind'],
  { fields, plural, root }: Resource<D, R>,
  readings: (snapshot: Snapshot) => readonly R[],
) {
  const print = (call: Call, lb: LoadBalancer, id: string, only?: ReadonlySet<string>) => ({
    [root]: printObject(fields, justWritten(readings(snapshot(call, lb)), id), only),
  })
  return {
    /** One child of this state of the load balancer. */
    print,
    list: (call: Call) =>
      printPage(plural, fields, listed(call).flatMap(readings), parseListQuery(call.query), call.url),
    show: (call: Call) =>
      print(call, findChild(call, kind, call.id, 'reader').lb, call.id, parseListQuery(call.query).fields),
  }
}
