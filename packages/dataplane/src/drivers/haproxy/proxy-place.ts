import type { DomainConfig } from '../../domain/domain-config.ts'
import { domainNames } from '../../domain/domain-names.ts'

/** Where a domain's proxy runs. */
export interface ProxyPlace {
  /** Unique on the machine (`<instance>-d<number>`): names its directory and its control group. */
  readonly name: string
  /** Name of the network namespace; null for the agent's own. */
  readonly namespace: string | null
  /** Local addresses of the domain that VIP traffic is steered to; null where the family is not available. */
  readonly address4: string | null
  readonly address6: string | null
}

/** The proxy of a domain runs in the domain's namespace and listens on the domain's end of its uplink. */
export const proxyPlaceOf =
  (config: Pick<DomainConfig, 'instance'>) =>
  ({ number }: { readonly number: number }): ProxyPlace => {
    const { namespace, domain } = domainNames(config, number)
    return { name: namespace, namespace, address4: domain.ipv4, address6: domain.ipv6 }
  }
