/** A panel of the dashboard. */
export interface Panel {
  readonly title: string
  /** PromQL by legend. `$__rate_interval` is Grafana's. */
  readonly series: Readonly<Record<string, string>>
  readonly unit?: 'short' | 's' | 'bytes' | 'percentunit' | 'reqps'
  /** A number alone, for what should be 0 or 1. */
  readonly isNumber?: true
}

/** The dashboard's rows by title, most needed first. */
export const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  'Is everything in order?': [
    { title: 'Leads', series: { leads: 'max(spout_leader)' }, isNumber: true },
    { title: 'Nodes that report', series: { nodes: 'sum(max by (node) (spout_node_connected))' }, isNumber: true },
    {
      title: 'Shards without or with two owners',
      series: { shards: 'count(max by (group, shard) (spout_shard_owners) != 1) or vector(0)' },
      isNumber: true,
    },
    {
      title: 'Load balancers in error',
      series: { error: 'max(spout_load_balancers{provisioning="error"})' },
      isNumber: true,
    },
    {
      title: 'Without a member that answers',
      series: { down: 'max(spout_load_balancers_serving{reason="AllMembersDown"})' },
      isNumber: true,
    },
    { title: 'Checks of /readyz', series: { '{{check}}': 'min by (check) (spout_ready)' } },
  ],
  'Load balancers': [
    { title: 'By provisioning', series: { '{{provisioning}}': 'max by (provisioning) (spout_load_balancers)' } },
    { title: 'By serving', series: { '{{reason}}': 'max by (reason) (spout_load_balancers_serving)' } },
    {
      title: 'Free addresses',
      series: {
        '{{pool}}':
          'max by (pool) (spout_address_pool_addresses{state="free"}) / max by (pool) (spout_address_pool_addresses{state="total"})',
      },
      unit: 'percentunit',
    },
    { title: 'Objects', series: { '{{kind}}': 'max by (kind) (spout_objects)' } },
  ],
  Addresses: [
    { title: 'Announced by node', series: { '{{node}}': 'max by (node) (spout_vips_announced)' } },
    { title: 'Owners of shards', series: { '{{group}} {{shard}}': 'max by (group, shard) (spout_shard_owners)' } },
    {
      title: 'Time without an owner, 99 %',
      series: {
        '{{group}}': 'histogram_quantile(0.99, sum by (group, le) (increase(spout_failover_seconds_bucket[1h])))',
      },
      unit: 's',
    },
    { title: 'BGP sessions', series: { '{{node}} {{peer}}': 'max by (node, peer) (spout_bgp_session_up)' } },
    { title: 'Flows that nodes carry', series: { '{{node}}': 'max by (node) (spout_flows{role="carried"})' } },
    {
      title: 'Flows missed, refused',
      series: {
        'missed {{node}}': 'sum by (node) (increase(spout_flows_missed_total[$__rate_interval]))',
        'refused {{node}}': 'sum by (node) (increase(spout_flow_conflicts_total{what="refused"}[$__rate_interval]))',
      },
    },
  ],
  'Control plane': [
    {
      title: 'Changes through the API, 99 %',
      series: {
        all: 'histogram_quantile(0.99, sum by (le) (rate(spout_http_request_seconds_bucket{method!="GET"}[$__rate_interval])))',
      },
      unit: 's',
    },
    {
      title: 'Requests',
      series: { '{{status}}': 'sum by (status) (rate(spout_http_request_seconds_count[$__rate_interval]))' },
      unit: 'reqps',
    },
    { title: 'Waiting to be planned', series: { keys: 'max(spout_plan_backlog)' } },
    {
      title: 'Memory',
      series: { '{{job}} {{instance}}': 'process_resident_memory_bytes' },
      unit: 'bytes',
    },
    {
      title: "Days until the API's certificate ends",
      series: { days: '(min(spout_api_certificate_expiry_timestamp_seconds) - time()) / 86400' },
    },
    { title: "Tenants' certificates", series: { '{{state}}': 'max by (state) (spout_certificates)' } },
  ],
  'Agents, where they are scraped': [
    { title: 'Members', series: { '{{health}}': 'sum by (health) (spout_agent_members)' } },
    {
      title: 'The part of a share that the busiest network uses',
      series: { '{{share}} {{instance}}': 'spout_agent_share_used_ratio' },
      unit: 'percentunit',
    },
    {
      title: 'Changes, reloads',
      series: {
        changes: 'sum(rate(spout_agent_transactions_total[$__rate_interval]))',
        reloads: 'sum(rate(spout_agent_reloads_total[$__rate_interval]))',
      },
    },
    { title: 'Proxies', series: { '{{kind}}': 'sum by (kind) (spout_agent_proxies)' } },
  ],
  Connectors: [
    { title: 'Works', series: { '{{instance}}': 'spout_connector_leader' } },
    { title: 'Waiting', series: { '{{instance}}': 'spout_connector_queue' } },
    {
      title: 'Services',
      series: { balanced: 'max(spout_connector_services)', refused: 'max(spout_connector_services_refused)' },
    },
    { title: 'Objects held', series: { '{{kind}}': 'max by (kind) (spout_connector_held_objects)' } },
  ],
}
