import type { AddressRequest } from '@spout/connector'
import type { LoadBalancerIngress, PortStatus } from '@spout/kube'
import { isIp, parseIp } from '@spout/net'
import type { IpMode } from '../to-model/draft.ts'
import type { BalancedPort } from '../to-model/ports.ts'

/** A port, with its error if it has one. */
export interface ShownPort {
  readonly port: BalancedPort
  readonly error: string | null
  readonly message: string | null
}

/**
 * `status.loadBalancer.ingress`: the addresses of the Service, its primary family first. An address is shown as soon as
 * the Service has it, before anything answers on it; the condition says whether it works. None is shown while a
 * required family is missing.
 */
export function ingressOf(
  request: AddressRequest,
  addresses: readonly string[],
  ports: readonly ShownPort[],
  ipMode: IpMode,
): readonly LoadBalancerIngress[] {
  const found = request.families.map(({ family, required }) => ({
    required,
    address: addresses.find((text) => isIp(text) && parseIp(text).version === family) ?? null,
  }))
  if (found.some(({ required, address }) => required && address === null)) return []
  // Kubernetes: if one port is listed, all must be.
  const shown: readonly PortStatus[] = ports.some(({ error }) => error !== null)
    ? ports.map(({ port, error }) => ({
        port: port.port,
        protocol: port.protocol,
        ...(error === null ? {} : { error }),
      }))
    : []
  return found.flatMap(({ address }) =>
    address === null ? [] : [{ ip: address, ipMode, ...(shown.length > 0 ? { ports: shown } : {}) }],
  )
}
