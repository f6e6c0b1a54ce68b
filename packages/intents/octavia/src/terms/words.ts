/**
 * Octavia's enumerations. They are complete, so that a value that is not supported here can be told from one that does
 * not exist.
 */

export const LISTENER_PROTOCOLS = ['HTTP', 'HTTPS', 'PROMETHEUS', 'SCTP', 'TCP', 'TERMINATED_HTTPS', 'UDP'] as const
export type ListenerProtocol = (typeof LISTENER_PROTOCOLS)[number]

export const POOL_PROTOCOLS = ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'SCTP', 'TCP', 'UDP'] as const
export const OFFERED_POOL_PROTOCOLS = ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'SCTP', 'TCP', 'UDP'] as const
export type PoolProtocol = (typeof OFFERED_POOL_PROTOCOLS)[number]

/** Which pool protocols each listener protocol allows. */
export const POOLS_OF_LISTENER: Readonly<Record<ListenerProtocol, readonly PoolProtocol[]>> = {
  TCP: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  HTTPS: ['HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  TERMINATED_HTTPS: ['HTTP', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
  SCTP: ['SCTP'],
  PROMETHEUS: [],
}

export const ALGORITHMS = ['LEAST_CONNECTIONS', 'ROUND_ROBIN', 'SOURCE_IP', 'SOURCE_IP_PORT'] as const
export type LbAlgorithm = (typeof ALGORITHMS)[number]

export const PERSISTENCE_TYPES = ['APP_COOKIE', 'HTTP_COOKIE', 'SOURCE_IP'] as const
export type PersistenceType = (typeof PERSISTENCE_TYPES)[number]

export const MONITOR_TYPES = ['HTTP', 'HTTPS', 'PING', 'SCTP', 'TCP', 'TLS-HELLO', 'UDP-CONNECT'] as const
export type MonitorType = (typeof MONITOR_TYPES)[number]

export const POLICY_ACTIONS = ['REDIRECT_PREFIX', 'REDIRECT_TO_POOL', 'REDIRECT_TO_URL', 'REJECT'] as const
export type PolicyAction = (typeof POLICY_ACTIONS)[number]
export const POLICY_CODES = [301, 302, 303, 307, 308] as const

export const RULE_TYPES = [
  'COOKIE',
  'FILE_TYPE',
  'HEADER',
  'HOST_NAME',
  'PATH',
  'SSL_CONN_HAS_CERT',
  'SSL_DN_FIELD',
  'SSL_VERIFY_RESULT',
] as const
export type RuleType = (typeof RULE_TYPES)[number]
export const RULE_COMPARES = ['CONTAINS', 'ENDS_WITH', 'EQUAL_TO', 'REGEX', 'STARTS_WITH'] as const
export type RuleCompare = (typeof RULE_COMPARES)[number]

export const CLIENT_AUTHENTICATION = ['MANDATORY', 'NONE', 'OPTIONAL'] as const

export const HTTP_HEADERS = [
  'X-Forwarded-For',
  'X-Forwarded-Port',
  'X-Forwarded-Proto',
  'X-Forwarded-IP',
  'X-Client-IP',
  'X-Real-IP',
] as const
export const SSL_HEADERS = [
  'X-SSL-Client-Verify',
  'X-SSL-Client-Has-Cert',
  'X-SSL-Client-DN',
  'X-SSL-Client-CN',
  'X-SSL-Issuer',
  'X-SSL-Client-SHA1',
  'X-SSL-Client-Not-Before',
  'X-SSL-Client-Not-After',
] as const

export type ProvisioningStatus = 'ACTIVE' | 'PENDING_CREATE' | 'PENDING_UPDATE' | 'ERROR'
export type OperatingStatus = 'ONLINE' | 'DRAINING' | 'OFFLINE' | 'DEGRADED' | 'ERROR' | 'NO_MONITOR'

/** Whether a text is one of a set; narrows its type. */
export const isOneOf =
  <T extends string>(words: readonly T[]) =>
  (word: string): word is T =>
    words.some((one) => one === word)
