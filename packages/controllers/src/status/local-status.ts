import type { LoadBalancer, LocalCheck, LocalLoadBalancer, LocalReport, NodeConnection } from '@spout/model'
import type { ProvisioningStatus } from './provisioning-status.ts'

/** A node whose own settings name the load balancer. */
export interface LocalCarrier {
  readonly nodeId: string
  readonly name: string
  readonly connection: NodeConnection
  /** RFC 3339, our clock. */
  readonly lastReportAt: string
  readonly report: LocalReport
}

/** The carriers whose reports count: those that are connected, or all when none is. */
const heard = (carriers: readonly LocalCarrier[]): readonly LocalCarrier[] => {
  const connected = carriers.filter(({ connection }) => connection === 'connected')
  return connected.length > 0 ? connected : carriers
}

/** The nodes that say that they have the address. The first was heard last: another one may just have died. */
export const localOwners = (carriers: readonly LocalCarrier[]): readonly LocalCarrier[] =>
  heard(carriers)
    .filter(({ report }) => report.isOwner)
    .toSorted((a, b) => (a.lastReportAt > b.lastReportAt ? -1 : 1))

/** The provisioning status of a load balancer that nodes carry by their own settings: the owner's report counts. */
export function localProvisioning(loadBalancer: LoadBalancer, carriers: readonly LocalCarrier[]): ProvisioningStatus {
  const path = `local.loadBalancers.${loadBalancer.localName}`
  if (carriers.length === 0)
    return pending('WaitingForNode', `No node has reported yet: its nodes carry it by their own settings, ${path}`)
  const counted = heard(carriers)
  if (counted.every(({ connection }) => connection !== 'connected'))
    return pending('NodeDisconnected', 'No node that carries it is connected: they go on with what they have')
  const wanted = textOf(settingsOf(loadBalancer))
  const other = counted.filter(({ report }) => textOf(report) !== wanted)
  if (other.length > 0)
    return failure('SettingsDiffer', `Nodes have other settings for it than most, ${path}: ${namesOf(other)}`)
  const owners = localOwners(carriers)
  const [owner] = owners
  if (owners.length > 1) return pending('TwoOwners', `Nodes both say that they have its address: ${namesOf(owners)}`)
  const failed = counted.find(({ report }) => report.state === 'failed')
  if (failed !== undefined)
    return failure('Failed', `Node ${failed.name}: ${failed.report.message ?? 'it could not be programmed'}`)
  if (owner === undefined) return pending('NoOwner', 'No node says that it has its address')
  const message = `Node \`${owner.name}\` has its address. Its nodes carry it by their own settings, ${path}`
  return { provisioning: 'active', reason: 'Programmed', message, confirmedBy: owner.nodeId }
}

/** What the settings of most of the nodes say that sent these reports; null for none. */
export function settingsOfMost(reports: readonly LocalReport[]): LocalLoadBalancer | null {
  const votes = Map.groupBy(reports, textOf)
  const [most] = [...votes.entries()].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
  return most?.[1][0] ?? null
}

/** What the settings say of it, as a text to compare. */
function textOf({ address, port, members, check }: LocalLoadBalancer): string {
  const places = members.map((member) => `${member.address} ${member.port}`)
  const { type, path, intervalMs, timeoutMs, rise, fall } = check
  return JSON.stringify([address, port, places, type, path, intervalMs, timeoutMs, rise, fall])
}

/** What the settings said when it was stored. */
function settingsOf({ localName = '', vips, listeners, pools }: LoadBalancer): LocalLoadBalancer {
  const [pool] = pools
  const { type = 'tcp', http, intervalMs = 0, timeoutMs = 0, rise = 0, fall = 0 } = pool?.monitor ?? {}
  return {
    ...{
      name: localName,
      address: vips[0]?.address ?? '',
      port: listeners[0]?.port ?? 0,
      members: pool?.members ?? [],
    },
    check: { type: type as LocalCheck['type'], path: http?.path ?? null, intervalMs, timeoutMs, rise, fall },
  }
}

const namesOf = (carriers: readonly LocalCarrier[]): string => carriers.map(({ name }) => `\`${name}\``).join(', ')

const pending = (reason: string, message: string): ProvisioningStatus => ({
  ...{ provisioning: 'pending', reason, message },
  confirmedBy: null,
})
const failure = (reason: string, message: string): ProvisioningStatus => ({
  ...{ provisioning: 'error', reason, message },
  confirmedBy: null,
})
