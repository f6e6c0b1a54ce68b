import type { ReferenceGrant } from '../../objects/reference-grant.ts'

/** The object that contains a reference: its group, kind and namespace. */
export interface Referrer {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** The object that a reference names. */
export interface Referred extends Referrer {
  readonly name: string
}

/** Whether a reference stays in its namespace, or a ReferenceGrant of the other namespace allows it. */
export function isPermitted(from: Referrer, to: Referred, grants: Iterable<ReferenceGrant>): boolean {
  if (from.namespace === to.namespace) return true
  for (const { metadata, spec } of grants) {
    if (metadata.namespace !== to.namespace) continue
    const trusts = spec.from.some(
      ({ group, kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
    )
    const offers = spec.to.some(
      ({ group, kind, name }) => group === to.group && kind === to.kind && (!name || name === to.name),
    )
    if (trusts && offers) return true
  }
  return false
}
