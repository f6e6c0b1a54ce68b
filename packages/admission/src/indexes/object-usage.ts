import type { Kind, QuotaResource } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/**
 * Kinds whose objects use quota each as a whole, and the limit that counts them; null: their bytes alone count. What is
 * in load balancers, and addresses, are counted in other ways.
 */
const COUNTED_AS = {
  network: 'networks',
  certificate: 'certificates',
  secret: 'secrets',
  secretContainer: 'secrets',
  securityGroup: 'securityGroups',
  applicationCredential: null,
  domainClaim: null,
} as const satisfies Partial<Record<Kind, QuotaResource | null>>
export type CountedKind = keyof typeof COUNTED_AS
export const COUNTED_KINDS = Object.keys(COUNTED_AS) as readonly CountedKind[]
export const isCounted = (kind: Kind): kind is CountedKind => Object.hasOwn(COUNTED_AS, kind)

/** The quota that an object uses: itself, and its bytes as JSON with everything in it. */
export function objectUsage(kind: CountedKind, object: object): Usage {
  const resource = COUNTED_AS[kind]
  const bytes = Buffer.byteLength(JSON.stringify(object))
  return { ...NO_USAGE, ...(resource === null ? {} : { [resource]: 1 }), bytes }
}
