import type { ViewOf } from '@spout/admission/contract'
import type { AddressPool, LoadBalancerSummary, Serving } from '@spout/model'
import { parseIpRange, rangeSize } from '@spout/net'
import type { Clock } from '@spout/runtime'
import type { Metrics } from '@spout/runtime/metrics'
import type { InstantCheck } from './readiness.ts'

/** The checks of `/readyz`, for alerts that name one of them. */
export function describeReadiness(metrics: Metrics, checks: readonly InstantCheck[]): void {
  metrics.gauge({ name: 'spout_ready', help: '1 while this check of /readyz passes', labels: ['check'] }, () =>
    checks.map(({ name, check }) => ({ labels: { check: name }, value: check() === null ? 1 : 0 })),
  )
}

const REASONS: readonly Serving['reason'][] = [
  'Serving',
  'MembersDown',
  'OverShare',
  'AllMembersDown',
  'NoMembers',
  'NoPool',
  'NoListeners',
  'Disabled',
]

/** How load balancers serve: one series for each reason, none for each load balancer. */
export function describeServing(
  metrics: Metrics,
  {
    view,
    status,
  }: {
    readonly view: ViewOf<'loadBalancer'>
    readonly status: { summary(id: string): Pick<LoadBalancerSummary, 'serving'> }
  },
): void {
  metrics.gauge(
    {
      name: 'spout_load_balancers_serving',
      help: 'Load balancers by whether their members answer, and why not',
      labels: ['reason'],
    },
    () => {
      const counts = new Map(REASONS.map((reason) => [reason, 0]))
      for (const { id } of view.list('loadBalancer')) {
        const { reason } = status.summary(id).serving
        counts.set(reason, (counts.get(reason) ?? 0) + 1)
      }
      return [...counts].map(([reason, value]) => ({ labels: { reason }, value }))
    },
  )
}

/** Addresses of pools; an address in quarantine is free for its last project alone, so it is not counted as free. */
export function describeAddressPools(
  metrics: Metrics,
  { view, clock }: { readonly view: ViewOf<'addressPool' | 'address'>; readonly clock: Clock },
): void {
  metrics.gauge(
    {
      name: 'spout_address_pool_addresses',
      help: 'Addresses of a pool: all, and those that anybody may get',
      labels: ['pool', 'state'],
    },
    () => {
      const [nowMs, taken] = [clock.now().getTime(), new Map<string, number>()]
      for (const { scope, holderId, quarantineUntil } of view.list('address')) {
        const isTaken = quarantineUntil === null || Date.parse(quarantineUntil) > nowMs
        if (scope === 'fabric' && isTaken) taken.set(holderId, (taken.get(holderId) ?? 0) + 1)
      }
      return view.list('addressPool').flatMap((pool) => {
        const total = sizeOf(pool)
        const of = (state: string, value: number) => ({ labels: { pool: pool.name, state }, value })
        return [of('total', total), of('free', Math.max(0, total - (taken.get(pool.id) ?? 0)))]
      })
    },
  )
}

const sizeOf = ({ ranges }: AddressPool): number =>
  ranges.reduce((sum, { first, last }) => sum + Number(rangeSize(parseIpRange(`${first}-${last}`))), 0)
