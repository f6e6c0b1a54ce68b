import type { DnsPublisher } from '@spout/controllers'
import type { DnsNameStatus } from '@spout/model'
import type { Metrics } from '@spout/runtime/metrics'

const STATES: readonly DnsNameStatus['state'][] = ['published', 'waiting', 'failed']

/** Metrics of published names, read at scrape time: the number of series grows with zones, not with names. */
export function describeDns(metrics: Metrics, dns: Pick<DnsPublisher, 'zones'>): void {
  metrics.gauge({ name: 'spout_dns_names', help: 'Names of load balancers by state', labels: ['zone', 'state'] }, () =>
    dns.zones.flatMap((each) => {
      const { zone } = each
      const states = [...each.statuses()].map(({ state }) => state)
      return STATES.map((state) => ({
        labels: { zone, state },
        value: states.filter((one) => one === state).length,
      }))
    }),
  )
  metrics.gauge(
    {
      name: 'spout_dns_zone_failed',
      help: '1 while the name server of a zone does not transfer it: records that nobody wants any more may stay in it',
      labels: ['zone'],
    },
    () => dns.zones.map(({ zone, sweepFailure }) => ({ labels: { zone }, value: sweepFailure === null ? 0 : 1 })),
  )
}
