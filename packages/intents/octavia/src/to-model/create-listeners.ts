import { type PolicySpec, policyOf } from '../resources/l7policy.ts'
import type { ListenerSpec } from '../resources/listener.ts'
import type { PoolSpec } from '../resources/pool.ts'
import { listenerReferences, poolReferences } from '../snapshots/references.ts'
import type { OctaviaListener, OctaviaPolicy } from '../terms/octavia-resources.ts'
import { validationFailure } from '../wire/fault.ts'
import { type GraphEdit, octaviaPoolOf } from './edit-graph.ts'

/** The pools that a listener and its policies create or name. */
export const poolsInside = ({ defaultPool, newPolicies }: ListenerSpec): readonly PoolSpec[] =>
  [defaultPool, ...newPolicies.map(({ redirectPool }) => redirectPool)].filter((pool) => pool !== null)

/** The certificates that a listener names, and those that the pools inside it name. */
export const specReferences = (spec: ListenerSpec): readonly string[] => [
  ...listenerReferences(spec),
  ...poolsInside(spec).flatMap(poolReferences),
]

/**
 * Adds pools, then listeners with the policies and pools inside them.
 * @param pools pools that a listener may refer to by name, besides those inside the listeners themselves
 * @throws OctaviaFault for a name of no pool, and for a pool that lacks an attribute
 */
export function addListeners(listeners: readonly ListenerSpec[], pools: readonly PoolSpec[]): GraphEdit {
  const created = [...pools, ...listeners.flatMap(poolsInside).filter(({ isReference }) => !isReference)]
  const byName = new Map(created.map((pool) => [pool.model.name, pool]))
  const idOf = (pool: PoolSpec): string => {
    const meant = pool.isReference ? byName.get(pool.model.name) : pool
    if (meant !== undefined) return meant.model.id
    throw validationFailure(`Pool '${pool.model.name}' was referenced but no full definition was found.`)
  }
  const added = listeners.map((listener) => listenerOf(listener, idOf))
  const addedPools = created.map(octaviaPoolOf)
  return (graph) => ({
    listeners: [...graph.listeners, ...added],
    pools: [...graph.pools, ...addedPools],
  })
}

export const addListener = (spec: ListenerSpec): GraphEdit => addListeners([spec], [])

function listenerOf(spec: ListenerSpec, idOf: (pool: PoolSpec) => string): OctaviaListener {
  const { loadBalancerId: _, defaultPool, newPolicies, model, ...listener } = spec
  return {
    ...listener,
    model: defaultPool === null ? model : { ...model, defaultPoolId: idOf(defaultPool) },
    policies: policiesOf(newPolicies, idOf),
  }
}

/** Orders policies as if they were created one after another: each at its position, or behind those before it. */
function policiesOf(specs: readonly PolicySpec[], idOf: (pool: PoolSpec) => string): readonly OctaviaPolicy[] {
  const policies: OctaviaPolicy[] = []
  for (const spec of specs) {
    const redirectPoolId = spec.redirectPool && idOf(spec.redirectPool)
    policies.splice(
      spec.position === null ? policies.length : spec.position - 1,
      0,
      policyOf({ ...spec, redirectPoolId }),
    )
  }
  return policies
}
