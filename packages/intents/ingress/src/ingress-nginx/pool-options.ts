import { hostText, type Pool, type PoolTls, poolTls } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'
import { sessionCookieOf } from './session-cookie.ts'

/** How the proxy connects to the endpoints of a Service, and which of them a client gets. */
export interface PoolOptions {
  readonly persistence: Pool['persistence']
  readonly tls: PoolTls | undefined
}

export function poolOptionsOf(read: AnnotationReader): PoolOptions {
  return { persistence: persistenceOf(read), tls: tlsOf(read) }
}

const CLIENT_ADDRESS: ReadonlySet<string> = new Set(['$remote_addr', '$binary_remote_addr'])

function persistenceOf(read: AnnotationReader): Pool['persistence'] {
  const [affinity, hash, balance] = ['affinity', 'upstream-hash-by', 'load-balance'].map((name) => read.text(name))
  if (balance !== undefined && balance !== 'round_robin') read.invalid('load-balance', 'is taken as round_robin')
  if (affinity !== undefined && affinity !== 'cookie') read.invalid('affinity', 'is not cookie')
  const isByAddress = hash !== undefined && CLIENT_ADDRESS.has(hash)
  if (hash !== undefined && !isByAddress)
    read.invalid('upstream-hash-by', 'is not the address of the client ($remote_addr)')
  const cookie = affinity === 'cookie' ? sessionCookieOf(read) : undefined
  if (affinity === 'cookie') return { type: 'cookie', ...(cookie && { cookie }) }
  return isByAddress ? { type: 'source-ip', timeoutSeconds: null } : null
}

/** Protocols over TLS for members, with the application protocol that the proxy offers them (ALPN). */
const WITH_TLS: Readonly<Record<string, readonly ['h2' | 'http/1.1']>> = { HTTPS: ['http/1.1'], GRPCS: ['h2'] }
const DEFAULT = 'HTTP'

function tlsOf(read: AnnotationReader): PoolTls | undefined {
  const protocol = (read.text('backend-protocol') ?? DEFAULT).toUpperCase()
  const alpn = Object.hasOwn(WITH_TLS, protocol) ? WITH_TLS[protocol] : undefined
  if (alpn === undefined && protocol !== DEFAULT && protocol !== 'AUTO_HTTP')
    read.refuse('backend-protocol', 'pods are spoken to by HTTP, HTTPS or GRPCS')
  const name = read.text('proxy-ssl-name')
  const serverName = name === undefined ? undefined : read.parsed('proxy-ssl-name', hostText, name)
  const versions = read.text('proxy-ssl-protocols')
  if (alpn === undefined) return undefined
  return poolTls.parse({
    alpn,
    ...(serverName === undefined ? {} : { serverName }),
    ...(versions === 'TLSv1.3' ? { minVersion: '1.3' } : {}),
  })
}
