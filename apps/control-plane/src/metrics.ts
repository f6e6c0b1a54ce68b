import type { ModelView } from '@spout/admission/contract'
import type { Leadership } from '@spout/controllers'
import type { Metrics } from '@spout/runtime/metrics'
import type { AuditLog, ServedCertificate } from '@spout/server'
import type { LeaderPart } from './leader-part.ts'

interface Described {
  readonly view: ModelView
  readonly part: LeaderPart
  readonly audit: AuditLog
}

/**
 * Metrics of objects, read at scrape time. The number of series grows with kinds and nodes, not with tenants' objects.
 */
export function describeObjects(metrics: Metrics, { view, part, audit }: Described): void {
  const { status } = part
  const kinds = ['loadBalancer', 'network', 'addressPool', 'address', 'node', 'project'] as const
  metrics.gauge({ name: 'spout_objects', help: 'Stored objects', labels: ['kind'] }, () =>
    kinds.map((kind) => ({ labels: { kind }, value: view.list(kind).length })),
  )
  metrics.gauge(
    { name: 'spout_load_balancers', help: 'Load balancers by provisioning status', labels: ['provisioning'] },
    () => Object.entries(status.counts).map(([provisioning, value]) => ({ labels: { provisioning }, value })),
  )
  metrics.gauge({ name: 'spout_node_connected', help: '1 for a node that reports', labels: ['node'] }, () =>
    view
      .list('node')
      .map(({ id, name }) => ({ labels: { node: name }, value: status.node(id).connection === 'connected' ? 1 : 0 })),
  )
  metrics.counters(
    {
      name: 'spout_node_words_ignored_total',
      help: 'Items dropped from reports because the node was not given them: a few are reports that crossed a change, many mean a faulty or compromised node',
      labels: ['node'],
    },
    () => view.list('node').map(({ id, name }) => ({ labels: { node: name }, value: status.ignored(id) })),
  )
  metrics.gauge({ name: 'spout_plan_backlog', help: 'Keys that wait to be planned', labels: [] }, () => [
    { labels: {}, value: part.backlog },
  ])
  metrics.counters(
    {
      name: 'spout_audit_lost_total',
      help: 'Records missing from the audit log: the disk failed (0 is right), or strangers sent too many',
      labels: ['why'],
    },
    () => [
      { labels: { why: 'disk' }, value: audit.lost },
      { labels: { why: 'strangers' }, value: audit.strangersLeftOut },
    ],
  )
  metrics.gauge({ name: 'spout_agent_streams', help: 'Agents with an open state stream', labels: [] }, () => [
    { labels: {}, value: part.connectedAgents },
  ])
}

/** Times of answers. @returns what to call after each */
export function describeAnswers(metrics: Metrics): (answer: Answer) => void {
  const answered = metrics.histogram({
    name: 'spout_http_request_seconds',
    help: 'Time to answer a request',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  return ({ method, route, status, durationMs }) =>
    answered.observe({ method, route, status: String(status) }, durationMs / 1000)
}

interface Answer {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** Who leads. */
export function describeLeader(metrics: Metrics, leadership: Leadership): void {
  metrics.gauge({ name: 'spout_leader', help: '1 for the control plane that leads, 0 for others', labels: [] }, () => [
    { labels: {}, value: leadership.leads ? 1 : 0 },
  ])
  metrics.gauge(
    {
      name: 'spout_leader_token',
      help: "The fencing token of the leader's lease, which grows when another leads; no series while nobody does",
      labels: [],
    },
    () => (leadership.leader === null ? [] : [{ labels: {}, value: leadership.leader.token }]),
  )
}

/** Metrics of the API's certificate. @param certificate null without TLS; then there are no such series */
export function describeCertificate(metrics: Metrics, certificate: ServedCertificate | null): void {
  if (certificate === null) return
  metrics.gauge(
    {
      name: 'spout_api_certificate_expiry_timestamp_seconds',
      help: 'When the certificate that the API shows expires',
      labels: [],
    },
    () => (certificate.expiresAt === null ? [] : [{ labels: {}, value: certificate.expiresAt.getTime() / 1000 }]),
  )
  metrics.gauge(
    {
      name: 'spout_api_certificate_refused',
      help: '1 while the newest certificate of the API cannot be used and the previous one stays in force',
      labels: [],
    },
    () => [{ labels: {}, value: certificate.isRefused ? 1 : 0 }],
  )
}
