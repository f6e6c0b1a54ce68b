import type { DedicatedProxy, LoadBalancerEntry } from '@spout/model'
import type { DomainConfig } from '../../../domain/domain-config.ts'
import { domainNames } from '../../../domain/domain-names.ts'

/** Limits of a dedicated proxy, and what it must have room for. */
export interface ProxyLimits extends DedicatedProxy {
  /** Largest target and header lines of a request. Absent: as for shared proxies. */
  readonly headerBytes?: number
}

/** The proxy of its own that an entry has, if it has one. */
export const ownProxyOf = ({
  dedicatedProxy,
  requestSizes,
}: Pick<LoadBalancerEntry, 'dedicatedProxy' | 'requestSizes'>): { readonly dedicatedProxy?: ProxyLimits } =>
  dedicatedProxy === undefined
    ? {}
    : {
        dedicatedProxy: {
          ...dedicatedProxy,
          ...(requestSizes?.headerBytes && { headerBytes: requestSizes.headerBytes }),
        },
      }

/** The place where a proxy runs. */
export interface ProxyPlace {
  /**
   * Unique on the machine: `<instance>-d<number>`, followed by `-p<seat>-<owner>` for a dedicated one. Names its
   * directory and its control group.
   */
  readonly name: string
  /** Name of the network namespace; null for the agent's own. */
  readonly namespace: string | null
  /** Addresses that it listens on; null if the family is not available. */
  readonly address4: string | null
  readonly address6: string | null
  /** For a proxy that carries one load balancer alone: its id, its range of the domain's ports, its limits. */
  readonly dedicated?: {
    readonly loadBalancerId: string
    readonly seat: number
    readonly limits: ProxyLimits
  }
}

/** The owner of its use of a share (`ShareUse`): the load balancer of a dedicated proxy. */
export const ownerIn = ({ dedicated }: ProxyPlace): { readonly loadBalancerId?: string } =>
  dedicated === undefined ? {} : { loadBalancerId: dedicated.loadBalancerId }

/**
 * The shared proxy of a domain runs in the domain's namespace and listens on its loopback addresses. No packet from
 * outside can have them as destination, so the proxy gets only what the packet filter redirects.
 */
export const proxyPlaceOf =
  (config: Pick<DomainConfig, 'instance'>) =>
  ({ number }: { readonly number: number }): ProxyPlace => {
    const { namespace } = domainNames(config, number)
    return { name: namespace, namespace, address4: '127.0.0.1', address6: '::1' }
  }
