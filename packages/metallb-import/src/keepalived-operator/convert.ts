import { type FabricChoice, fabricChoice } from '@spout/model'
import { poolsOfAddresses } from '../address-pools.ts'
import { attach, type Conversion, type Converted, madeOf } from '../convert.ts'
import { BadManifests, type Manifest, shown } from '../manifest.ts'
import { allOf, isUnset, parsed } from '../parsed.ts'
import { type Note, noteOf } from '../source.ts'
import {
  ANNOTATIONS,
  keepalivedGroupSpec,
  keepalivedGroupStatus,
  networkSpec,
  OPENSHIFT_CONFIG,
  OPERATOR_GROUP,
  serviceSpec,
} from './kinds.ts'

/** The pool for addresses that OpenShift assigned by itself. */
const POOL = 'openshift-external-ips'

/** What is lost of a field, or what it means here. */
const FIELDS: Readonly<Record<string, string>> = {
  passwordAuth: 'no equivalent: VRRPv3 has no passwords, and adverts are taken from the nodes of the group alone',
  unicastEnabled: 'always so: adverts go from node to node',
  image: 'no equivalent: one image has all programs',
  daemonsetAnnotations: 'no equivalent: annotate the pods of DaemonSet agent',
  daemonsetPodAnnotations: 'no equivalent: annotate the pods of DaemonSet agent',
  daemonsetPodPriorityClassName: 'is agent.priorityClassName of the chart',
}

/**
 * Converts KeepalivedGroups to node groups, and OpenShift's prefixes of external addresses to pools. What Services say to
 * the operator becomes notes: they keep their addresses.
 * @throws BadManifests for what the operator would not accept either
 */
export function convertKeepalivedOperator(manifests: readonly Manifest[]): Conversion {
  const isOf = ({ apiVersion, kind }: Manifest, group: string, wanted: string) =>
    apiVersion.startsWith(`${group}/`) && kind === wanted
  const groups = manifests.filter((one) => isOf(one, OPERATOR_GROUP, 'KeepalivedGroup'))
  const networks = manifests.filter((one) => isOf(one, OPENSHIFT_CONFIG, 'Network') && one.name === 'cluster')
  const services = manifests.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Service')
  const others = manifests.filter((one) => ![groups, networks, services].some((known) => known.includes(one)))
  refuseTwins(groups)
  const pools = allOf(networks, poolsOf)
  const notes = [
    ...pools.flatMap((one) => one.notes),
    ...allOf(services, (service) => notesOfService(service, groups)).flat(),
    ...others.map((manifest) => noteOf({ manifest }, null, 'is no configuration of keepalived-operator: left out')),
  ]
  return attach([...pools.flatMap((one) => one.objects), ...allOf(groups, groupOf)], notes)
}

/** Node groups have no namespaces. */
function refuseTwins(groups: readonly Manifest[]): void {
  const twins = groups.filter(({ name }, index) => groups.findIndex((other) => other.name === name) !== index)
  if (twins.length > 0)
    throw new BadManifests(
      twins.map(({ where, name }) => `${where} (KeepalivedGroup ${name}): metadata.name: is that of another one`),
    )
}

function groupOf(manifest: Manifest): Converted {
  const {
    blacklistRouterIDs,
    verbatimConfig,
    nodeSelector,
    interface: name,
    interfaceFromIP,
    ...spec
  } = parsed(manifest, 'spec', keepalivedGroupSpec, manifest.spec)
  const { routerIDs } = parsed(manifest, 'status', keepalivedGroupStatus, manifest.status)
  const notes: Note[] = []
  const note = (field: string, text: string) => notes.push(noteOf({ manifest }, field, text))
  for (const [field, value] of Object.entries(spec))
    if (!isUnset(value)) {
      const said = typeof value === 'string' ? `${shown(value)}: ` : ''
      note(`spec.${shown(field)}`, `${said}${FIELDS[field] ?? 'is not known here: left out'}`)
    }
  for (const key of Object.keys(verbatimConfig ?? {}))
    note(`spec.verbatimConfig.${shown(key)}`, 'no equivalent: no text reaches the configuration of keepalived')
  const used = Object.values(routerIDs ?? {}).filter((id) => id > 0)
  if (used.length > 0)
    note('status.routerIDs', 'are in use until the operator is gone: the group takes others, so both can run at once')
  const excluded = [...new Set([...(blacklistRouterIDs ?? []), ...used])].sort((a, b) => a - b)
  if (!isUnset(nodeSelector))
    note(
      'spec.nodeSelector',
      'chooses among the nodes that have an agent. A node that two groups select stays where it is',
    )
  const fabric = fabricOf(name, interfaceFromIP, note)
  const settings = {
    ...(excluded.length === 0 ? {} : { vrrp: { excludedRouterIds: excluded } }),
    ...(isUnset(nodeSelector) ? {} : { nodeSelector: { matchLabels: nodeSelector } }),
    ...(fabric === null ? {} : { fabric }),
  }
  return madeOf('NodeGroup', manifest.name, { announcer: 'vrrp', ...settings }, [{ manifest }], notes)
}

/** The operator's own choice: the address counts before the name. */
function fabricOf(
  name: string | null | undefined,
  address: string | null | undefined,
  note: (field: string, text: string) => void,
): FabricChoice | null {
  const byAddress = isUnset(address) ? null : (fabricChoice.safeParse({ reaches: address }).data ?? null)
  if (!isUnset(address))
    note(
      'spec.interfaceFromIP',
      byAddress === null
        ? `${shown(address)}: is not an address that a node can reach: left out`
        : 'must be in the network of the interface itself, not behind a router',
    )
  if (isUnset(name)) return byAddress
  if (byAddress !== null) {
    note('spec.interface', `${shown(name)}: left out, as interfaceFromIP counts`)
    return byAddress
  }
  const byName = fabricChoice.safeParse({ interface: name }).data ?? null
  if (byName === null) note('spec.interface', `${shown(name)}: is not the name of a network interface: left out`)
  return byName
}

function poolsOf(manifest: Manifest): { readonly objects: readonly Converted[]; readonly notes: readonly Note[] } {
  const { externalIP } = parsed(manifest, 'spec', networkSpec, manifest.spec)
  const { allowedCIDRs, rejectedCIDRs } = externalIP?.policy ?? {}
  const notes: Note[] = []
  const note = (field: string, text: string) => notes.push(noteOf({ manifest }, `spec.externalIP.${field}`, text))
  if (!isUnset(allowedCIDRs))
    note('policy.allowedCIDRs', `set services.externalIPs of the connector: ${shown(allowedCIDRs?.join(', '))}`)
  if (!isUnset(rejectedCIDRs))
    note('policy.rejectedCIDRs', 'no equivalent: services.externalIPs of the connector has what is allowed')
  const texts = externalIP?.autoAssignCIDRs ?? []
  if (texts.length === 0) return { objects: [], notes }
  note('autoAssignCIDRs', 'empty it before the Services move: else OpenShift gives out addresses beside this pool')
  return {
    objects: poolsOfAddresses(POOL, [{ manifest, field: 'spec.externalIP.autoAssignCIDRs', texts }], []),
    notes,
  }
}

/** Services that the operator does not look at say nothing. */
function notesOfService(manifest: Manifest, groups: readonly Manifest[]): readonly Note[] {
  const { annotations } = manifest
  const wanted = annotations[ANNOTATIONS.group]
  if (wanted === undefined) return []
  const notes: Note[] = []
  const note = (field: string, text: string) => notes.push(noteOf({ manifest }, field, text))
  const annotation = (name: keyof typeof ANNOTATIONS) => `metadata.annotations[${ANNOTATIONS[name]}]`
  const group = groups.find(({ name, namespace }) => `${namespace}/${name}` === wanted || name === wanted)
  if (group === undefined) note(annotation('group'), `${shown(wanted)} is not among what was read`)
  else if (groups.length > 1)
    note(
      annotation('group'),
      `a class of load balancers chooses the group: make one for ${group.name} and name it in spec.loadBalancerClass`,
    )
  if (annotations[ANNOTATIONS.verbatim] !== undefined)
    note(annotation('verbatim'), 'no equivalent: no text reaches the configuration of keepalived')
  if (annotations[ANNOTATIONS.spread] === 'true')
    note(annotation('spread'), 'no equivalent: the addresses of a network are in one shard, which has one owner')
  if (!isUnset(parsed(manifest, 'spec', serviceSpec, manifest.spec).externalIPs))
    note('spec.externalIPs', 'are announced if services.externalIPs of the connector allows them')
  return notes
}
