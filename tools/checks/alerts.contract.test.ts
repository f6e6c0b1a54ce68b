import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must, unpackedPackages } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Alert, anchorOf } from '../../packages/kubernetes-manifests/src/monitoring/alert.ts'
import { ALERTS } from '../../packages/kubernetes-manifests/src/monitoring/alerts.ts'

/** The alerts by Prometheus' own tool: on series of an installation in order, and with one thing wrong at a time. */

const RULES = path.resolve(import.meta.dirname, '../../deploy/monitoring/alerts.yaml')

let directory: string
let promtool: string
beforeAll(async () => {
  promtool = path.join(await unpackedPackages('prometheus', ['prometheus']), 'usr/bin/promtool')
  directory = mkdtempSync(path.join(tmpdir(), 'spout-alerts-'))
}, 600_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

type Series = Readonly<Record<string, string>>

/** Two and a half hours, a value every half minute. */
const SAMPLES = 300
const EVERY_SECONDS = 30
const always = (value: number): string => `${value}+0x${SAMPLES}`
const growing = (by: number): string => `0+${by}x${SAMPLES}`
const DAY = 86_400

const HEALTHY: Series = {
  'spout_leader{instance="a"}': always(1),
  // One that waits to lead: no node reports to it.
  'spout_leader{instance="b"}': always(0),
  'spout_node_connected{instance="b",node="node1"}': always(0),
  'spout_shard_owners{instance="b",group="default",shard="1"}': always(0),
  'spout_ready{check="store"}': always(1),
  'spout_ready{check="planner"}': always(1),
  'spout_ready{check="data-plane"}': always(1),
  spout_plan_backlog: always(0),
  'spout_node_connected{instance="a",node="node1"}': always(1),
  'spout_node_connected{instance="a",node="node2"}': always(1),
  'spout_shard_owners{instance="a",group="default",shard="1"}': always(1),
  'spout_addresses_claimed{node="node1"}': always(0),
  'spout_bgp_session_up{node="node1",peer="tor1"}': always(1),
  'spout_bgp_session_up{node="node1",peer="tor2"}': always(1),
  'spout_failover_seconds_count{group="default"}': always(7),
  'spout_flow_peers{node="node1",state="heard"}': always(2),
  'spout_flow_peers{node="node1",state="silent"}': always(0),
  'spout_flows_missed_total{node="node1"}': always(0),
  'spout_load_balancers{provisioning="error"}': always(0),
  'spout_load_balancers_serving{reason="AllMembersDown"}': always(0),
  'spout_load_balancers_serving{reason="MembersDown"}': always(3),
  'spout_address_pool_addresses{pool="public",state="total"}': always(200),
  'spout_address_pool_addresses{pool="public",state="free"}': always(150),
  'spout_http_request_seconds_bucket{method="POST",le="1"}': growing(10),
  'spout_http_request_seconds_bucket{method="POST",le="5"}': growing(10),
  'spout_http_request_seconds_bucket{method="POST",le="+Inf"}': growing(10),
  'spout_http_request_seconds_count{status="201"}': growing(100),
  'spout_http_request_seconds_count{status="500"}': growing(1),
  'spout_audit_lost_total{why="disk"}': always(0),
  'spout_audit_lost_total{why="strangers"}': growing(5),
  spout_api_certificate_expiry_timestamp_seconds: always(60 * DAY),
  spout_api_certificate_refused: always(0),
  'spout_certificates{state="expired"}': always(0),
  'spout_certificates{state="expiring"}': always(0),
  spout_certificates_unopened: always(0),
  'spout_agent_last_report_timestamp_seconds{instance="node1"}': growing(EVERY_SECONDS),
  'spout_agent_reloads_total{instance="node1"}': always(4),
  'spout_agent_share_networks_over{instance="node1",share="packets"}': always(0),
  'spout_connector_leader{job="spout",instance="c1"}': always(1),
  'spout_connector_leader{job="spout",instance="c2"}': always(0),
  'spout_connector_queue{instance="c1"}': always(0),
  'spout_connector_held_objects{job="spout",kind="Service"}': always(0),
  'spout_dns_zone_failed{zone="example.org"}': always(0),
}

/** By alert: what is wrong, and the labels that the alert has then. */
const WRONG: Readonly<Record<string, readonly [Series, Series]>> = {
  SpoutShardWithoutOwner: [
    { 'spout_shard_owners{instance="a",group="default",shard="1"}': always(0) },
    { group: 'default', shard: '1' },
  ],
  SpoutShardWithTwoOwners: [
    { 'spout_shard_owners{instance="a",group="default",shard="1"}': always(2) },
    { group: 'default', shard: '1' },
  ],
  SpoutNodeNotHeard: [{ 'spout_node_connected{instance="a",node="node1"}': always(0) }, { node: 'node1' }],
  SpoutNoNodeConnected: [
    {
      'spout_node_connected{instance="a",node="node1"}': always(0),
      'spout_node_connected{instance="a",node="node2"}': always(0),
    },
    {},
  ],
  SpoutAddressClaimed: [{ 'spout_addresses_claimed{node="node1"}': always(1) }, { node: 'node1' }],
  SpoutBgpSessionDown: [
    { 'spout_bgp_session_up{node="node1",peer="tor1"}': always(0) },
    { node: 'node1', peer: 'tor1' },
  ],
  SpoutNodeWithoutBgpSession: [
    {
      'spout_bgp_session_up{node="node1",peer="tor1"}': always(0),
      'spout_bgp_session_up{node="node1",peer="tor2"}': always(0),
    },
    { node: 'node1' },
  ],
  SpoutShardsMoveOften: [{ 'spout_failover_seconds_count{group="default"}': growing(1) }, { group: 'default' }],
  SpoutFlowPeersSilent: [{ 'spout_flow_peers{node="node1",state="silent"}': always(1) }, { node: 'node1' }],
  SpoutFlowsMissed: [{ 'spout_flows_missed_total{node="node1"}': growing(1) }, { node: 'node1' }],
  SpoutNobodyLeads: [{ 'spout_leader{instance="a"}': always(0) }, {}],
  SpoutStoreTakesNoWrites: [{ 'spout_ready{check="store"}': always(0) }, {}],
  SpoutPlanningStands: [{ spout_plan_backlog: always(3) }, {}],
  SpoutNodesBehind: [{ 'spout_ready{check="data-plane"}': always(0) }, {}],
  SpoutLoadBalancersInError: [{ 'spout_load_balancers{provisioning="error"}': always(1) }, {}],
  SpoutPoolsWithoutMember: [{ 'spout_load_balancers_serving{reason="AllMembersDown"}': always(1) }, {}],
  SpoutAddressPoolNearlyFull: [
    { 'spout_address_pool_addresses{pool="public",state="free"}': always(19) },
    { pool: 'public' },
  ],
  SpoutAddressPoolFull: [{ 'spout_address_pool_addresses{pool="public",state="free"}': always(0) }, { pool: 'public' }],
  SpoutApiSlow: [{ 'spout_http_request_seconds_bucket{method="POST",le="1"}': always(0) }, {}],
  SpoutApiFails: [{ 'spout_http_request_seconds_count{status="500"}': growing(10) }, {}],
  SpoutAuditLost: [{ 'spout_audit_lost_total{why="disk"}': growing(1) }, {}],
  SpoutApiCertificateEndsSoon: [{ spout_api_certificate_expiry_timestamp_seconds: always(10 * DAY) }, {}],
  SpoutApiCertificateEnds: [{ spout_api_certificate_expiry_timestamp_seconds: always(DAY) }, {}],
  SpoutApiCertificateRefused: [{ spout_api_certificate_refused: always(1) }, {}],
  SpoutTenantCertificateEnded: [{ 'spout_certificates{state="expired"}': always(1) }, {}],
  SpoutTenantCertificatesEndSoon: [{ 'spout_certificates{state="expiring"}': always(2) }, {}],
  SpoutCertificateKeysSealed: [{ spout_certificates_unopened: always(1) }, {}],
  SpoutAgentNotHeard: [
    { 'spout_agent_last_report_timestamp_seconds{instance="node1"}': always(0) },
    { instance: 'node1' },
  ],
  SpoutProxiesReloadOften: [{ 'spout_agent_reloads_total{instance="node1"}': growing(1) }, { instance: 'node1' }],
  SpoutShareExceeded: [
    { 'spout_agent_share_networks_over{instance="node1",share="packets"}': always(1) },
    { instance: 'node1', share: 'packets' },
  ],
  SpoutNoConnectorWorks: [{ 'spout_connector_leader{job="spout",instance="c1"}': always(0) }, { job: 'spout' }],
  SpoutConnectorBehind: [{ 'spout_connector_queue{instance="c1"}': always(2) }, { instance: 'c1' }],
  SpoutConnectorHoldsObjects: [
    { 'spout_connector_held_objects{job="spout",kind="Service"}': always(9) },
    { job: 'spout', kind: 'Service' },
  ],
  SpoutDnsZoneFailed: [{ 'spout_dns_zone_failed{zone="example.org"}': always(1) }, { zone: 'example.org' }],
}

/** When to look: once it has lasted long enough. What looks back over an hour needs more of it. */
const timeOf = ({ expression, lasts }: Alert): string => (/\b1h\b/.test(`${expression} ${lasts}`) ? '2h' : '30m')

const seriesOf = (all: Series) => Object.entries(all).map(([series, values]) => ({ series, values }))
const filled = (text: string, labels: Series): string =>
  text.replaceAll(/\{\{ \$labels\.([a-z]+) \}\}/g, (_, label: string) => labels[label] ?? '')

/** A test of the tool: what is scraped, and the alerts that fire. */
const testOf = (name: string, input: Series, expected: ReadonlyMap<string, Series>) => ({
  name,
  interval: `${EVERY_SECONDS}s`,
  input_series: seriesOf(input),
  alert_rule_test: ALERTS.filter((alert) => expected.size === 0 || expected.has(alert.name)).map((alert) => {
    const labels = expected.get(alert.name)
    const { severity, summary, description, heading } = alert
    return {
      eval_time: timeOf(alert),
      alertname: alert.name,
      exp_alerts:
        labels === undefined
          ? []
          : [
              {
                exp_labels: { severity, ...labels },
                exp_annotations: {
                  summary: filled(summary, labels),
                  description: filled(description, labels),
                  runbook: `docs/runbook.md#${anchorOf(heading)}`,
                },
              },
            ],
    }
  }),
})

async function testRules(tests: readonly object[]): Promise<string> {
  const file = path.join(directory, 'tests.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  return must([promtool, 'test', 'rules', file], { timeoutMs: 300_000 })
}

it('Prometheus takes the rules', async () => {
  expect(await must([promtool, 'check', 'rules', RULES])).toContain(`SUCCESS: ${ALERTS.length} rules found`)
})

it('no alert fires while everything is in order, whichever control plane leads', async () => {
  expect(await testRules([testOf('in order', HEALTHY, new Map())])).toContain('SUCCESS')
})

it('each alert fires when that is wrong which it is for', async () => {
  expect(Object.keys(WRONG).sort()).toEqual(ALERTS.map(({ name }) => name).sort())
  const tests = Object.entries(WRONG).map(([name, [wrong, labels]]) =>
    testOf(name, { ...HEALTHY, ...wrong }, new Map([[name, labels]])),
  )
  expect(await testRules(tests)).toContain('SUCCESS')
})
