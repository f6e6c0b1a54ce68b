import type { ObjectOf } from '../contract/view.ts'
import { type CountedKind, objectUsage } from '../indexes/object-usage.ts'
import type { Claim } from './claims.ts'

/** Claims the quota of an object that is written. @throws SpoutError OverQuota */
export const claimObjectRoom = <K extends CountedKind>(claim: Claim, kind: K, next: ObjectOf<K>): void =>
  claim.quota(next.projectId, [{ key: `${kind}/${next.id}`, usage: objectUsage(kind, next) }])
