/**
 * Facts: values that a client sent and the model has no field for. They are kept as annotations of the load balancer:
 * `octavia.provider`, `octavia.zone`, `octavia.vips` in noop mode and, per child, `octavia.<id>.<name>`. Values that
 * follow from the model are not kept, so most children have none.
 */

const PREFIX = 'octavia.'
const PROVIDER = `${PREFIX}provider`
const VIPS = `${PREFIX}vips`
const ZONE = `${PREFIX}zone`

type Annotations = Readonly<Record<string, string>>
export type FactName = 'protocol' | 'insert_headers' | 'http_version' | 'delay' | 'l7policy' | 'l7rule' | 'ref'

/** A fact about a child, or null. */
export const factOf = (annotations: Annotations, id: string, name: FactName): string | null =>
  annotations[`${PREFIX}${id}.${name}`] ?? null

export interface Fact {
  readonly id: string
  readonly name: FactName
  readonly value: string
}

/** Replaces the children's facts in annotations. Facts of deleted children are dropped. */
export function withFacts(annotations: Annotations, facts: readonly Fact[]): Record<string, string> {
  const kept = Object.entries(annotations).filter(
    ([key]) => !key.startsWith(PREFIX) || [PROVIDER, VIPS, ZONE].includes(key),
  )
  return Object.fromEntries([...kept, ...facts.map(({ id, name, value }) => [`${PREFIX}${id}.${name}`, value])])
}

export const providerAnnotation = (provider: string): Record<string, string> => ({ [PROVIDER]: provider })
export const providerOf = (annotations: Annotations): string | null => annotations[PROVIDER] ?? null

/** Zones keep their names, so a copy is the name. */
export const zoneAnnotation = (name: string): Record<string, string> => ({ [ZONE]: name })
export const zoneNameOf = (annotations: Annotations): string | null => annotations[ZONE] ?? null

/** The VIPs that a client of noop mode named, as text; null for load balancers that were not made in noop mode. */
export const vipsAnnotation = (vips: string): Record<string, string> => ({ [VIPS]: vips })
export const vipsTextOf = (annotations: Annotations): string | null => annotations[VIPS] ?? null
/** Whether the load balancer was made in noop mode. */
export const isNoop = ({ annotations }: { readonly annotations: Annotations }): boolean =>
  vipsTextOf(annotations) !== null
