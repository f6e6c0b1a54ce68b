import {
  type AddressFields,
  type AddressRequest,
  FAMILY_OF,
  type Family,
  type OrRefusal,
  refuse,
  shown,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import { formatIp, isIp, parseIp } from '@spout/net'
import { fieldOf, listAnnotation } from './annotations.ts'

/** The fields in which a Service requests addresses. */
export const ADDRESS_FIELDS = {
  addresses: fieldOf('addresses'),
  pools: fieldOf('pools'),
  families: 'spec.ipFamilies',
  loadBalancerClass: 'spec.loadBalancerClass',
} as const satisfies AddressFields

/** The families of `ipFamilies`, in order. The API server always sets them; older objects may lack them. */
export function familiesOf({ spec }: Service): readonly Family[] {
  const families = (spec.ipFamilies ?? []).map((family) => FAMILY_OF[family]).filter((family) => family !== undefined)
  if (families.length > 0) return [...new Set(families)]
  const addresses = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP])
  const guessed = addresses.filter(isIp).map((text) => parseIp(text).version)
  return guessed.length > 0 ? [...new Set(guessed)] : [4]
}

/**
 * Reads the requested addresses. `loadBalancerIP` (deprecated) takes one address, the annotation one of each family;
 * using both is refused. So is an address of a family that the Service does not have.
 */
export function addressRequestOf(service: Service): OrRefusal<AddressRequest> {
  const wanted = wantedAddresses(service)
  if ('refusal' in wanted) return wanted
  const { field, texts } = wanted.value
  const families = familiesOf(service)
  const addresses = new Map<Family, string>()
  for (const text of texts) {
    if (!isIp(text)) return refuse('InvalidAddress', field, `"${shown(text)}" is not an IP address.`)
    const ip = parseIp(text)
    if (!families.includes(ip.version))
      return refuse('AddressFamilyMismatch', field, `${formatIp(ip)} is of a family that is not in spec.ipFamilies.`)
    if (addresses.has(ip.version))
      return refuse('InvalidAddress', field, `There are two addresses of family IPv${ip.version}; a Service has one.`)
    addresses.set(ip.version, formatIp(ip))
  }
  const pools = listAnnotation(service, 'pools')
  if ('refusal' in pools) return pools
  const requireAll = service.spec.ipFamilyPolicy === 'RequireDualStack'
  return {
    value: {
      families: families.map((family, at) => ({
        family,
        required: at === 0 || requireAll || addresses.has(family),
        address: addresses.get(family) ?? null,
      })),
      pools: pools.value === null ? null : [...new Set(pools.value)],
    },
  }
}

/** The field in which the Service requests an address, or would. */
export function addressFieldOf(service: Service): string {
  const wanted = wantedAddresses(service)
  return 'refusal' in wanted ? wanted.refusal.field : wanted.value.field
}

function wantedAddresses(service: Service): OrRefusal<{ readonly field: string; readonly texts: readonly string[] }> {
  const annotated = listAnnotation(service, 'addresses')
  if ('refusal' in annotated) return annotated
  const deprecated = service.spec.loadBalancerIP ?? ''
  if (annotated.value === null)
    return { value: { field: 'spec.loadBalancerIP', texts: deprecated === '' ? [] : [deprecated] } }
  if (deprecated !== '')
    return refuse('InvalidAddress', 'spec.loadBalancerIP', `It stands beside ${fieldOf('addresses')}; set one of them.`)
  return { value: { field: fieldOf('addresses'), texts: annotated.value } }
}
