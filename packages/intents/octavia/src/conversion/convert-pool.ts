import { type Pool, sessionPersistence } from '@spout/model'
import type { OctaviaPersistence, OctaviaPool } from '../terms/octavia-resources.ts'
import type { LbAlgorithm, PoolProtocol } from '../terms/words.ts'
import { invalidInput, unsupportedOption, validationFailure } from '../wire/fault.ts'
import { granularityOf, networksOf } from './granularity.ts'

export const MODEL_ALGORITHM = {
  ROUND_ROBIN: 'round-robin',
  LEAST_CONNECTIONS: 'least-connections',
  SOURCE_IP: 'source-ip',
  SOURCE_IP_PORT: 'source-ip-port',
} as const satisfies Record<LbAlgorithm, Pool['algorithm']>

export const WIRE_ALGORITHM = {
  'round-robin': 'ROUND_ROBIN',
  'least-connections': 'LEAST_CONNECTIONS',
  'source-ip': 'SOURCE_IP',
  'source-ip-port': 'SOURCE_IP_PORT',
} as const satisfies Record<Pool['algorithm'], LbAlgorithm>

/** A pool's protocol in Octavia unless an annotation names another. */
export const PLAIN_POOL_PROTOCOL = {
  tcp: 'TCP',
  udp: 'UDP',
  sctp: 'SCTP',
  http: 'HTTP',
  'tcp-proxy': 'TCP',
  'tcp-proxy-v1': 'PROXY',
  'tcp-proxy-v2': 'PROXYV2',
} as const satisfies Record<Pool['protocol'], PoolProtocol>

export const unfoldPersistence = (persistence: Pool['persistence']): OctaviaPersistence | null =>
  persistence && {
    type: WIRE_PERSISTENCE[persistence.type],
    cookieName: persistence.type === 'application-cookie' ? persistence.cookieName : null,
    timeoutSeconds: persistence.type === 'source-ip' ? persistence.timeoutSeconds : null,
    granularity: persistence.type === 'source-ip' ? granularityOf(persistence.networks) : null,
  }

const WIRE_PERSISTENCE = {
  'source-ip': 'SOURCE_IP',
  cookie: 'HTTP_COOKIE',
  'application-cookie': 'APP_COOKIE',
} as const

/** @throws OctaviaFault for what Octavia refuses or what is not supported here */
export function foldPersistence({ protocol, persistence }: OctaviaPool): Pool['persistence'] {
  if (persistence === null) return null
  const { type, cookieName, timeoutSeconds, granularity } = persistence
  if (type === null) throw invalidInput('type', 'None', 'Mandatory field missing.')
  if (protocol === 'UDP' || protocol === 'SCTP') {
    if (cookieName !== null)
      throw validationFailure(
        type === 'SOURCE_IP'
          ? 'session_persistence SOURCE_IP type for UDP and SCTP protocols only accepts: type, persistence_timeout, persistence_granularity.'
          : 'Cookie names are not supported for UDP/SCTP pools.',
      )
    if (type !== 'SOURCE_IP')
      throw validationFailure(`Session persistence of type ${type} is not supported for UDP/SCTP protocol pools.`)
  } else if (timeoutSeconds !== null || granularity !== null)
    throw validationFailure('persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.')
  if (cookieName !== null && type !== 'APP_COOKIE')
    throw validationFailure('Field "cookie_name" can only be specified with session persistence of type "APP_COOKIE".')
  if (cookieName === null && type === 'APP_COOKIE')
    throw validationFailure(
      'Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.',
    )
  if (type !== 'SOURCE_IP' && protocol !== 'HTTP')
    throw unsupportedOption(`session_persistence type ${type}: only pools of protocol HTTP see cookies here`)
  if (type === 'HTTP_COOKIE') return { type: 'cookie' }
  if (type === 'APP_COOKIE') return applicationCookie(cookieName ?? '')
  return { type: 'source-ip', timeoutSeconds, ...(granularity !== null && { networks: networksOf(granularity) }) }
}

function applicationCookie(cookieName: string): Pool['persistence'] {
  const parsed = sessionPersistence.safeParse({ type: 'application-cookie', cookieName })
  if (parsed.success) return parsed.data
  throw validationFailure(`Field "cookie_name" ${parsed.error.issues[0]?.message ?? 'is not valid'}.`)
}
