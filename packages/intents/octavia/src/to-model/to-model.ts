import type { LoadBalancerChange, LoadBalancerDraft } from '@spout/admission/contract'
import type { AvailabilityZone, LoadBalancer } from '@spout/model'
import { blankLoadBalancer, type LoadBalancerSpec, loadBalancerResource } from '../resources/load-balancer.ts'
import type { Resource } from '../resources/resource.ts'
import { foldGraph, unfoldGraph } from '../snapshots/graph.ts'
import { providerAnnotation, vipsAnnotation, zoneAnnotation } from '../terms/facts.ts'
import type { Graph } from '../terms/octavia-resources.ts'
import { invalidInput, missingArgument, OctaviaFault, unknownAttributes, validationFailure } from '../wire/fault.ts'
import { type Edit, type Mode, readObject } from '../wire/field.ts'
import { pythonText } from '../wire/python-text.ts'
import type { Stamp } from '../wire/wire-type.ts'
import { checkGraph, refuseAllowedCidrs } from './check-graph.ts'
import { addListeners, poolsInside } from './create-listeners.ts'
import type { GraphEdit } from './edit-graph.ts'
import { noopVips, shownVips } from './noop-vips.ts'
import { findVips, type NetworkDirectory } from './vip-request.ts'

/**
 * Reads a request's body `{"<root>": {…}}`.
 * @throws OctaviaFault
 */
export function readBody<D, R>(resource: Resource<D, R>, mode: Mode, body: unknown, stamp: Stamp): Edit<D> {
  const inner = rootOf(resource.root, resource.argument, body)
  return readObject(resource.fields, mode, inner, { path: `${resource.argument}.${resource.root}`, stamp })
}

/** The value of the body's only attribute. @throws OctaviaFault */
export function rootOf(root: string, argument: string, body: unknown): unknown {
  if (body === undefined || body === null) throw missingArgument(argument)
  if (typeof body !== 'object' || Array.isArray(body))
    throw invalidInput(argument, pythonText(body), 'Value not a valid dict.')
  const given = new Map<string, unknown>(Object.entries(body))
  const unknown = [...given.keys()].filter((name) => name !== root)
  if (unknown.length > 0) throw unknownAttributes(argument, unknown)
  if (!given.has(root)) throw invalidInput(root, 'None', 'Mandatory field missing.')
  return given.get(root)
}

export interface Creation {
  readonly spec: LoadBalancerSpec
  readonly projectId: string
  /** The class and the zone that `spec` names, if any. */
  readonly classId?: string
  readonly zone?: Pick<AvailabilityZone, 'id' | 'name'>
  readonly directory: NetworkDirectory
  /** Names that clients may give as `provider`; the first is the default. */
  readonly providers: readonly string[]
  /** In noop mode: the pool of the hidden addresses. Absent otherwise. */
  readonly noopPoolId?: string
}

/** Admission's draft for a creation with its whole graph. @throws OctaviaFault */
export function loadBalancerDraft(creation: Creation): LoadBalancerDraft {
  const { spec, projectId, providers, classId, zone } = creation
  const provider = spec.provider ?? providers[0] ?? 'spout'
  if (!providers.includes(provider)) throw new OctaviaFault(400, `Provider '${provider}' is not enabled.`)
  const { requests, ranges, annotations } = vipsOf(creation)
  const graph = graphOf(spec)
  checkGraph(graph, ranges)
  if (spec.securityGroupIds.length > 0) refuseAllowedCidrs(graph.listeners)
  return {
    ...(spec.id !== null && { id: spec.id }),
    projectId,
    name: spec.name,
    description: spec.description,
    tags: spec.tags,
    enabled: spec.enabled,
    vips: requests,
    nodeGroupId: null,
    ...(classId !== undefined && { classId }),
    ...(zone !== undefined && { zoneId: zone.id }),
    ...(spec.securityGroupIds.length > 0 && { securityGroupIds: spec.securityGroupIds }),
    ...foldGraph(graph, {
      ...providerAnnotation(provider),
      ...(zone !== undefined && zoneAnnotation(zone.name)),
      ...annotations,
    }),
  }
}

/** The addresses to request, the prefixes or addresses that clients see, and the facts to keep. */
function vipsOf({ spec: { vip, additionalVips }, directory, noopPoolId }: Creation) {
  if (noopPoolId === undefined) {
    const found = findVips(vip, additionalVips, directory)
    return { requests: found.map(({ request }) => request), ranges: found.map(({ range }) => range), annotations: {} }
  }
  const shown = noopVips(vip, additionalVips, directory)
  return {
    requests: [{ from: 'pool' as const, poolId: noopPoolId, address: null }],
    ranges: shown.map(({ address }) => address),
    annotations: vipsAnnotation(JSON.stringify(shown)),
  }
}

/** The children that a creation describes. Inside it, pools are referred to by their names. */
function graphOf({ listeners, pools }: LoadBalancerSpec): Graph {
  const inside = listeners.flatMap(poolsInside)
  if (inside.some(({ model }) => model.name === ''))
    throw validationFailure('Pools must be named when creating a fully populated loadbalancer.')
  const names = [...pools, ...inside.filter(({ isReference }) => !isReference)].map(({ model }) => model.name)
  if (new Set(names).size < names.length)
    throw validationFailure('Pool names must be unique when creating a fully populated loadbalancer.')
  return addListeners(listeners, pools)({ listeners: [], pools: [] })
}

/** Admission's change for an edit of children. */
export const graphChange =
  (edit: GraphEdit) =>
  (lb: LoadBalancer): LoadBalancerChange => {
    const before = unfoldGraph(lb)
    const graph = edit(before)
    if ((lb.securityGroupIds ?? []).length > 0) refuseAllowedCidrs(graph.listeners, before.listeners)
    checkGraph(
      graph,
      shownVips(lb).map(({ address }) => address),
    )
    return foldGraph(graph, lb.annotations)
  }

/** Admission's change for a PUT of the load balancer itself. */
export const ownChange =
  (edit: Edit<LoadBalancerSpec>) =>
  (lb: LoadBalancer): LoadBalancerChange => {
    const { name, description, enabled, tags, securityGroupIds } = lb
    const stored = { name, description, enabled, tags, securityGroupIds: securityGroupIds ?? [] }
    const edited = edit({ ...blankLoadBalancer(), ...stored })
    return {
      name: edited.name,
      description: edited.description,
      enabled: edited.enabled,
      tags: [...edited.tags],
      ...(edited.securityGroupIds !== stored.securityGroupIds && { securityGroupIds: [...edited.securityGroupIds] }),
    }
  }

export const readLoadBalancer = (body: unknown, stamp: Stamp): LoadBalancerSpec =>
  readBody(loadBalancerResource, 'create', body, stamp)(blankLoadBalancer())
