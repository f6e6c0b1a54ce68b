import type { ModelView, ObjectOf, Principal } from '@spout/admission/contract'
import type { Kind } from '@spout/model'
import { mayKnow } from '../authn/access.ts'
import type { PublicId } from './live/event-text.ts'
import { ADDRESS_POOLS, ADDRESSES, NETWORKS } from './networks/networks.ts'
import { ADVERTISEMENTS, PEERS } from './nodes/bgp.ts'
import { CLASSES } from './nodes/load-balancer-classes.ts'
import { ENROLMENT_TOKENS, NODE_GROUPS } from './nodes/nodes.ts'
import type { Collection } from './operations/collection.ts'
import { CERTIFICATES } from './projects/certificates.ts'
import { CLAIMS } from './projects/domain-claims.ts'
import { PROJECTS, USERS } from './projects/projects.ts'

type Seen<K extends Kind> = Pick<Collection<K>, 'visible' | 'publicId'>

/** A quota has its project's id. */
const QUOTAS: Seen<'quota'> = { visible: (principal, { id }) => mayKnow(principal, id) }

/** Who may know of an object, for the kinds whose changes pages are told of. */
const SEEN = {
  network: NETWORKS,
  addressPool: ADDRESS_POOLS,
  address: ADDRESSES,
  certificate: CERTIFICATES,
  project: PROJECTS,
  quota: QUOTAS,
  user: USERS,
  domainClaim: CLAIMS,
  loadBalancerClass: CLASSES,
  nodeGroup: NODE_GROUPS,
  enrolmentToken: ENROLMENT_TOKENS,
  bgpPeer: PEERS,
  bgpAdvertisement: ADVERTISEMENTS,
} satisfies { readonly [K in Kind]?: Seen<K> }
type SeenKind = keyof typeof SEEN

/** The kinds that `publicIdIn` knows. */
export const SEEN_KINDS: ReadonlySet<Kind> = new Set(Object.keys(SEEN) as SeenKind[])

/** The id by which the caller knows an object that exists; null if the caller may not know of it. */
export const publicIdIn =
  (view: Pick<ModelView, 'get'>): PublicId =>
  (principal, kind, id) =>
    isSeen(kind) ? publicId(view, principal, kind, id) : null

const isSeen = (kind: Kind): kind is SeenKind => SEEN_KINDS.has(kind)

function publicId<K extends SeenKind>(
  view: Pick<ModelView, 'get'>,
  principal: Principal,
  kind: K,
  id: string,
): string | null {
  const object: ObjectOf<K> | undefined = view.get(kind, id)?.value
  const seen = SEEN[kind] as Seen<K>
  if (object === undefined || !seen.visible(principal, object)) return null
  return seen.publicId?.(object) ?? id
}
