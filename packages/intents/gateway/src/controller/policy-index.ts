import type { BackendTlsPolicyObject } from '../objects/backend-tls-policy.ts'
import { authoritiesOfPolicy, servicesOfPolicy } from '../to-model/backends/backend-tls.ts'
import type { GatewayControllerOptions } from './options.ts'

interface Named {
  readonly services: readonly string[]
  readonly authorities: ReadonlySet<string>
}

/** The Services and ConfigMaps that each policy names, as they were last seen. */
export class PolicyIndex {
  readonly #certificates: GatewayControllerOptions['certificates']
  readonly #named = new Map<string, Named>()

  constructor({ certificates }: Pick<GatewayControllerOptions, 'certificates'>) {
    this.#certificates = certificates
  }

  /** @returns the Services that the policy named before or names now */
  put(key: string, policy: BackendTlsPolicyObject | undefined): readonly string[] {
    const before = this.#named.get(key)?.services ?? []
    const services = policy === undefined ? [] : servicesOfPolicy(policy)
    if (policy === undefined) this.#named.delete(key)
    else this.#named.set(key, { services, authorities: authoritiesOfPolicy(policy) })
    return [...new Set([...before, ...services])]
  }

  servicesOf(key: string): readonly string[] {
    return this.#named.get(key)?.services ?? []
  }

  /** The policies that name a ConfigMap of authorities. */
  ofAuthorities(configMap: string): readonly string[] {
    return [...this.#named].flatMap(([key, { authorities }]) => (authorities.has(configMap) ? [key] : []))
  }

  keys(): Iterable<string> {
    return this.#named.keys()
  }

  /** Follows the ConfigMaps that a policy names, if one of our Gateways needs the policy. */
  follow(key: string, isNeeded: boolean): void {
    this.#certificates.name(`policy:${key}`, (isNeeded && this.#named.get(key)?.authorities) || new Set())
  }
}
