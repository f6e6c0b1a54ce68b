export type ChildKind = 'pool' | 'member' | 'healthmonitor' | 'listener' | 'l7policy' | 'rule'
export type ProfileKind = 'flavorprofile' | 'availability_zone_profile'
/** Kinds by the root of their requests. */
export type Kind =
  | 'loadbalancer'
  | ChildKind
  | ProfileKind
  | 'flavor'
  | 'availability_zone'
  | 'quota'
  | 'security_group'
  | 'security_group_rule'
  | 'floatingip'

interface KindRow {
  readonly word: string
  /** The end of the path of its list. */
  readonly plural: string
  /** Attributes that are created and compared as they are. */
  readonly copied: readonly string[]
  /** Attributes that are left out, each with the reason. A load balancer works without them. */
  readonly leftOut: Readonly<Record<string, string>>
}

const described = ['name', 'description', 'admin_state_up', 'tags'] as const
const offered = ['name', 'description', 'enabled'] as const
const nameless = ['admin_state_up', 'tags'] as const

export const KIND_ROWS: Readonly<Record<Kind, KindRow>> = {
  loadbalancer: {
    word: 'load balancer',
    plural: 'loadbalancers',
    // Addresses, provider, flavor, zone and security groups depend on what Spout has: see translate.ts.
    copied: described,
    leftOut: { vip_qos_policy_id: 'networks of Spout have no QoS policies' },
  },
  pool: {
    word: 'pool',
    plural: 'pools',
    copied: [
      ...[...described, 'protocol', 'lb_algorithm', 'session_persistence', 'tls_enabled', 'tls_container_ref'],
      ...['ca_tls_container_ref', 'crl_container_ref', 'tls_versions', 'tls_ciphers', 'alpn_protocols'],
    ],
    leftOut: {},
  },
  member: {
    word: 'member',
    plural: 'members',
    copied: [
      ...['name', ...nameless, 'address', 'protocol_port', 'weight', 'backup', 'monitor_address', 'monitor_port'],
    ],
    leftOut: {},
  },
  healthmonitor: {
    word: 'health monitor',
    plural: 'healthmonitors',
    copied: [
      ...['name', ...nameless, 'type', 'delay', 'timeout', 'max_retries', 'max_retries_down', 'http_method'],
      ...['url_path', 'expected_codes', 'http_version', 'domain_name'],
    ],
    leftOut: {},
  },
  listener: {
    word: 'listener',
    plural: 'listeners',
    copied: [
      ...[...described, 'protocol', 'protocol_port', 'connection_limit', 'default_pool_id', 'insert_headers'],
      ...['timeout_client_data', 'timeout_member_connect', 'timeout_member_data', 'timeout_tcp_inspect'],
      ...['allowed_cidrs', 'default_tls_container_ref', 'sni_container_refs', 'client_authentication'],
      ...['client_ca_tls_container_ref', 'client_crl_container_ref', 'tls_versions', 'tls_ciphers'],
      ...['alpn_protocols', 'hsts_max_age', 'hsts_include_subdomains', 'hsts_preload'],
    ],
    leftOut: {},
  },
  l7policy: {
    word: 'L7 policy',
    plural: 'l7policies',
    copied: [
      ...[...described, 'action', 'redirect_pool_id', 'redirect_url', 'redirect_prefix', 'redirect_http_code'],
      'position',
    ],
    leftOut: {},
  },
  rule: {
    word: 'L7 rule',
    plural: 'rules',
    copied: [...nameless, 'type', 'compare_type', 'key', 'value', 'invert'],
    leftOut: {},
  },
  flavorprofile: { word: 'flavor profile', plural: 'flavorprofiles', copied: ['name'], leftOut: {} },
  flavor: { word: 'flavor', plural: 'flavors', copied: offered, leftOut: {} },
  availability_zone_profile: {
    word: 'availability zone profile',
    plural: 'availabilityzoneprofiles',
    copied: ['name'],
    leftOut: {},
  },
  availability_zone: { word: 'availability zone', plural: 'availabilityzones', copied: offered, leftOut: {} },
  quota: { word: 'quota of project', plural: 'quotas', copied: [], leftOut: {} },
  security_group: {
    word: 'security group',
    plural: 'security-groups',
    copied: ['name', 'description', 'tags'],
    leftOut: {},
  },
  security_group_rule: {
    word: 'security group rule',
    plural: 'security-group-rules',
    copied: ['ethertype', 'protocol', 'port_range_min', 'port_range_max', 'remote_ip_prefix', 'description'],
    leftOut: {},
  },
  floatingip: {
    word: 'floating IP',
    plural: 'floatingips',
    copied: ['floating_ip_address', 'description', 'tags'],
    leftOut: {
      qos_policy_id: 'networks of Spout have no QoS policies',
      dns_name: 'a load balancer has names in Spout, not its address (spout lb set --dns-names)',
    },
  },
}

/** Attributes that name a certificate in the key manager. */
export const CERTIFICATE_REFS = [
  ...['default_tls_container_ref', 'sni_container_refs', 'client_ca_tls_container_ref'],
  ...['client_crl_container_ref', 'tls_container_ref', 'ca_tls_container_ref', 'crl_container_ref'],
] as const

/** Whether an attribute is unset, or has the value that means "not used". */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
