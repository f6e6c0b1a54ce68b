import type { ListenerContent, OrRefusal, PoolContent, Refusal } from '@spout/connector'
import type { Service } from '@spout/kube'
import { choiceAnnotation, fieldOf } from './annotations.ts'
import type { BalancedPort } from './ports.ts'

/** Version of the PROXY protocol that tells members of TCP ports their clients; null: none. */
export type ProxyVersion = 'v1' | 'v2' | null

export const proxyVersionOf = (service: Service): OrRefusal<ProxyVersion> =>
  choiceAnnotation(service, 'proxyProtocol', ['v1', 'v2'])

/** The L7 proxy carries a TCP port that uses the PROXY protocol or ends TLS; the kernel carries any other port. */
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

/** Ports that the version does not concern, of a Service that asks for one. */
export function withoutProxyProtocol(ports: readonly BalancedPort[], version: ProxyVersion): Refusal | null {
  const others = ports.filter(({ transport }) => transport !== 'tcp').map(({ key }) => key)
  if (version === null || others.length === 0) return null
  const message = `${others.join(', ')}: only members of TCP ports are told of clients.`
  return { reason: 'ProxyProtocolIgnored', field: fieldOf('proxyProtocol'), message }
}
