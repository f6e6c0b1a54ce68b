import type { ListenerContent, OrRefusal, PoolContent, Refusal } from '@spout/connector'
import type { Service } from '@spout/kube'
import { choiceAnnotation, fieldOf } from './annotations.ts'
import type { BalancedPort } from './ports.ts'

/** The version of the PROXY protocol that tells members of TCP ports the client's address; null: none. */
export type ProxyVersion = 'v1' | 'v2' | null

export const proxyVersionOf = (service: Service): OrRefusal<ProxyVersion> =>
  choiceAnnotation(service, 'proxyProtocol', ['v1', 'v2'])

/**
 * The protocols of listener and pool. The L7 proxy serves a TCP port that uses the PROXY protocol or terminates TLS;
 * the kernel forwards any other port.
 */
export function protocolsOf(
  { transport }: BalancedPort,
  version: ProxyVersion,
  endsTls: boolean,
): { readonly listener: ListenerContent['protocol']; readonly pool: PoolContent['protocol'] } {
  if (transport !== 'tcp' || (version === null && !endsTls)) return { listener: transport, pool: transport }
  return {
    listener: endsTls ? 'tls' : 'tcp-proxy',
    pool: version === null ? 'tcp-proxy' : `tcp-proxy-${version}`,
  }
}

/** A notice about ports that cannot use the PROXY protocol, when the Service asks for it. */
export function withoutProxyProtocol(ports: readonly BalancedPort[], version: ProxyVersion): Refusal | null {
  const others = ports.filter(({ transport }) => transport !== 'tcp').map(({ key }) => key)
  if (version === null || others.length === 0) return null
  const message = `${others.join(', ')}: only members of TCP ports are told of clients.`
  return { reason: 'ProxyProtocolIgnored', field: fieldOf('proxyProtocol'), message }
}
