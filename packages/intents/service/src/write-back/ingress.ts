import type { AddressRequest } from '@spout/connector'
import type { LoadBalancerIngress, PortStatus } from '@spout/kube'
import { isIp, parseIp } from '@spout/net'
import type { BalancedPort } from '../to-model/ports.ts'

/** A port and what is wrong with it, if anything. */
export interface ShownPort {
  readonly port: BalancedPort
  readonly error: string | null
  readonly message: string | null
}

/**
 * `status.loadBalancer.ingress`: the addresses that the Service has, its primary family first. An address stands there as
 * soon as it is the Service's, before anything answers on it; whether it works is what the condition says. None stands
 * there while a family is missing that the Service cannot do without.
 *
 * `ipMode` is VIP: packets come to members with the address still theirs to answer, so kube-proxy may go the short way.
 */
export function ingressOf(
  request: AddressRequest,
  addresses: readonly string[],
  ports: readonly ShownPort[],
): readonly LoadBalancerIngress[] {
  const found = request.families.map(({ family, required }) => ({
    required,
    address: addresses.find((text) => isIp(text) && parseIp(text).version === family) ?? null,
  }))
  if (found.some(({ required, address }) => required && address === null)) return []
  // Kubernetes: when one port is listed, all are.
  const shown: readonly PortStatus[] = ports.some(({ error }) => error !== null)
    ? ports.map(({ port, error }) => ({
        port: port.port,
        protocol: port.protocol,
        ...(error === null ? {} : { error }),
      }))
    : []
  return found.flatMap(({ address }) =>
    address === null ? [] : [{ ip: address, ipMode: 'VIP' as const, ...(shown.length > 0 ? { ports: shown } : {}) }],
  )
}
