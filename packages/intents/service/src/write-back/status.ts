import { type AddressRequest, CONDITION_SERVING, type Progress } from '@spout/connector'
import type { Condition, LoadBalancerIngress, Service } from '@spout/kube'
import { CONDITION_EXTERNAL_IPS, CONDITION_PORTS_ERROR, CONDITION_PROGRAMMED } from '../names.ts'
import type { IpMode } from '../to-model/draft.ts'
import type { RefusedExternal } from '../to-model/external-ips.ts'
import type { Answering } from './answering.ts'
import { conditionsOf } from './conditions.ts'
import { ingressOf, type ShownPort } from './ingress.ts'

/** The part of a Service's status that is ours. */
export interface WrittenStatus {
  readonly ingress: readonly LoadBalancerIngress[]
  readonly conditions: readonly Condition[]
}

export interface StatusInput {
  readonly service: Service
  /** Null while the request cannot be parsed: then the load balancer and the shown addresses stay. */
  readonly request: AddressRequest | null
  /** The load balancer's addresses that are this Service's; empty when there are none. */
  readonly addresses: readonly string[]
  readonly ports: readonly ShownPort[]
  /** Left out: VIP. */
  readonly ipMode?: IpMode
  /** The external IPs that were refused. Left out: none. */
  readonly refusedExternals?: readonly RefusedExternal[]
  readonly progress: Progress
  /** Whether endpoints answer; null while that is not known. */
  readonly answering?: Answering | null
  /** Where the web page shows its load balancer. Left out or null: nothing to name. */
  readonly page?: string | null
  /** RFC 3339, in seconds. */
  readonly now: string
}

export function statusOf({
  service,
  request,
  addresses,
  ports,
  ipMode = 'VIP',
  refusedExternals = [],
  progress,
  answering = null,
  page = null,
  now,
}: StatusInput): WrittenStatus {
  const before = service.status?.loadBalancer?.ingress ?? []
  return {
    ingress:
      request === null
        ? before.filter(({ ip }) => addresses.includes(ip ?? ''))
        : ingressOf(request, addresses, ports, ipMode),
    conditions: conditionsOf({
      ...{ progress, ports, refusedExternals, answering, page, now },
      before: service.status?.conditions ?? [],
    }),
  }
}

/** Since when the Service is programmed; null when it is not. */
export function programmedSince({ status }: Service): string | null {
  const shown = status?.conditions?.find(({ type }) => type === CONDITION_PROGRAMMED)
  return shown?.status === 'True' ? shown.lastTransitionTime : null
}

/** The status of a Service that is no longer balanced. */
export const NO_STATUS: WrittenStatus = { ingress: [], conditions: [] }

const OURS: ReadonlySet<string> = new Set([
  CONDITION_PROGRAMMED,
  CONDITION_SERVING,
  CONDITION_PORTS_ERROR,
  CONDITION_EXTERNAL_IPS,
])

/** Whether the Service shows this status already. Conditions of others do not count. */
export function shows(service: Service, wanted: WrittenStatus): boolean {
  const shown = (service.status?.conditions ?? []).filter(({ type }) => OURS.has(type))
  return (
    ingressText(service.status?.loadBalancer?.ingress ?? []) === ingressText(wanted.ingress) &&
    conditionsText(shown) === conditionsText(wanted.conditions)
  )
}

/** Whether the Service shows this status, except for the reason why it is not programmed. */
export function differInReason(service: Service, wanted: WrittenStatus): boolean {
  const shown = service.status?.conditions?.find(({ type }) => type === CONDITION_PROGRAMMED)
  if (shown?.status !== 'False') return false
  const { reason, message } = shown
  const conditions = wanted.conditions.map((one) =>
    one.type === CONDITION_PROGRAMMED && one.status === 'False' ? { ...one, reason, message } : one,
  )
  return shows(service, { ...wanted, conditions })
}

const ingressText = (ingress: readonly LoadBalancerIngress[]): string =>
  JSON.stringify(
    ingress.map(({ ip = '', hostname = '', ipMode = 'VIP', ports = [] }) => [
      ip,
      hostname,
      ipMode,
      ports.map(({ port, protocol, error = '' }) => [port, protocol, error]),
    ]),
  )

const conditionsText = (conditions: readonly Condition[]): string =>
  JSON.stringify(
    [...conditions]
      .sort((a, b) => (a.type < b.type ? -1 : 1))
      .map(({ type, status, reason, message }) => [type, status, reason, message]),
  )
