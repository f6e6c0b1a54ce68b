import type { AccessLogCounts, AgentFigures } from '@spout/agent'
import type { LineCounts, ShareFigures, SyslogCounts } from '@spout/dataplane'
import { Metrics } from '@spout/runtime/metrics'
import { StatusServer } from '@spout/runtime/status-server'
import { listenAddress } from './listen-address.ts'
import { readiness } from './readiness.ts'

export interface AgentMetricsOptions extends DescribedAgent {
  /** `address:port`, IPv6 in brackets. */
  readonly listen: string
  /** File with the token that `/metrics` requires; empty requires none. */
  readonly tokenFile: string
}

/** What the metrics are read from, at each scrape. */
interface DescribedAgent {
  readonly figures: () => AgentFigures
  /** How many proxies run: for networks, and for load balancers alone. */
  readonly proxies: () => Readonly<Record<'shared' | 'dedicated', number>>
  readonly requestLines: () => LineCounts
  readonly accessLogLines: () => AccessLogCounts
  readonly syslogMessages: () => SyslogCounts
}

/**
 * Serves `/metrics` in the Prometheus format, `/healthz` and `/readyz`. Loaded only if configured, since the metrics
 * library would use memory in every agent.
 */
export function agentMetrics({ listen, tokenFile, ...described }: AgentMetricsOptions): StatusServer {
  const metrics = new Metrics()
  describeAgent(metrics, described)
  return new StatusServer({
    name: 'metrics',
    ...listenAddress(listen),
    tokenFile,
    metrics,
    readiness: () => readiness(described.figures()),
  })
}

/** Every metric of an agent. */
export function describeAgent(
  metrics: Metrics,
  { figures, proxies, requestLines, accessLogLines, syslogMessages }: DescribedAgent,
): void {
  describe(metrics, figures)
  const name = 'spout_agent_proxies'
  metrics.gauge({ name, help: 'Proxies of networks, and of load balancers alone', labels: ['kind'] }, () =>
    by('kind', proxies()),
  )
  metrics.counters(
    {
      name: 'spout_agent_request_lines_total',
      help: 'Lines about requests from proxies: read, dropped because they came too fast, or of no listener that asks for them',
      labels: ['result'],
    },
    () => by('result', requestLines()),
  )
  metrics.counters(
    {
      name: 'spout_agent_access_log_lines_total',
      help: 'Lines of access logs: accepted for writing, and lost because the disk was full or slow',
      labels: ['result'],
    },
    () => by('result', accessLogLines()),
  )
  metrics.counters(
    {
      name: 'spout_agent_syslog_messages_total',
      help: 'Lines of access logs for syslog receivers: sent, and lost because the receiver was away or slow',
      labels: ['result'],
    },
    () => by('result', syslogMessages()),
  )
}

const one = (value: number) => [{ labels: {}, value }]
const by = (label: string, counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

function describe(metrics: Metrics, figures: () => AgentFigures): void {
  metrics.gauge(
    {
      name: 'spout_agent_in_sync',
      help: '1 when every entry of the last full state was applied, or tried without success',
    },
    () => one(figures().inSync ? 1 : 0),
  )
  metrics.gauge({ name: 'spout_agent_entries', help: 'Entries of the node', labels: ['state'] }, () =>
    by('state', figures().entries),
  )
  metrics.gauge({ name: 'spout_agent_members', help: 'Members that are probed', labels: ['health'] }, () =>
    by('health', figures().members),
  )
  metrics.gauge({ name: 'spout_agent_shards', help: 'VRRP shards the node takes part in', labels: ['state'] }, () =>
    by('state', figures().shards),
  )
  metrics.gauge({ name: 'spout_agent_bgp_sessions', help: 'Sessions with routers', labels: ['state'] }, () =>
    by('state', figures().bgpSessions),
  )
  metrics.counters(
    { name: 'spout_agent_reports_total', help: 'Reports to the control plane', labels: ['result'] },
    () => by('result', figures().reports),
  )
  metrics.gauge(
    { name: 'spout_agent_last_report_timestamp_seconds', help: 'When a report last arrived; 0 for never' },
    () => one((figures().lastReportAtMs ?? 0) / 1000),
  )
  metrics.counters({ name: 'spout_agent_transactions_total', help: 'Changes of the kernel and of proxies' }, () =>
    one(figures().transactions),
  )
  metrics.counters({ name: 'spout_agent_reloads_total', help: 'Proxies that were reloaded' }, () =>
    one(figures().reloads),
  )
  const shares = (of: (share: ShareFigures) => number | null) =>
    Object.entries(figures().shares).flatMap(([share, figure]) => {
      const value = of(figure)
      return value === null ? [] : [{ labels: { share }, value }]
    })
  metrics.gauge(
    {
      name: 'spout_agent_share_used_ratio',
      help: 'The part of its share that the busiest tenant network uses; 1 is all of it',
      labels: ['share'],
    },
    () => shares(({ mostUsed }) => mostUsed),
  )
  metrics.gauge(
    {
      name: 'spout_agent_share_networks_over',
      help: 'Tenant networks that need more than their share',
      labels: ['share'],
    },
    () => shares(({ over }) => over),
  )
  metrics.counters(
    {
      name: 'spout_agent_share_refused_total',
      help: 'Refusals beyond the share: packets, processor time of a proxy, proxies ended for want of memory, connections to them',
      labels: ['share'],
    },
    () => shares(({ refused }) => refused),
  )
  metrics.gauge({ name: 'process_resident_memory_bytes', help: "The agent's memory, without its daemons" }, () =>
    one(process.memoryUsage.rss()),
  )
  metrics.counters({ name: 'process_cpu_seconds_total', help: "The agent's processor time" }, () => {
    const { user, system } = process.cpuUsage()
    return one((user + system) / 1e6)
  })
}
