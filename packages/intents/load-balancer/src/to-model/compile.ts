import {
  type AddressRequest,
  type CertificateSight,
  CLASS_ANNOTATION,
  CLUSTER_ANNOTATION,
  endpointsLeftOut,
  FAMILY_OF,
  keyOf,
  type LoadBalancerDocument,
  mostMembers,
  type OrRefusal,
  ownerAnnotation,
  type Refusal,
  reasonOf,
  refuse,
  shown,
  sorted,
  uidOf,
} from '@spout/connector'
import { type LoadBalancerPool, type LoadBalancerSpec, loadBalancerSpec } from '@spout/custom-resources'
import type { IpFamily } from '@spout/kube'
import { parseAs, SpoutError } from '@spout/model'
import { canonicalIp, isIp, parseIp } from '@spout/net'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import { type Endpoints, membersOf } from './members.ts'

/** What the compilation of an object needs besides the object. */
export interface Surroundings extends Endpoints {
  /** Id of the cluster. */
  readonly cluster: string
  readonly certificate: (secretKey: string) => CertificateSight
}

export interface Compiled {
  readonly document: LoadBalancerDocument
  readonly request: AddressRequest
  /** The objects that the result depends on, such as `secret namespace/name`. */
  readonly dependencies: ReadonlySet<string>
  /** Why parts of the object are not served as its spec requests. The other parts are served. */
  readonly problems: readonly Refusal[]
  /** Whether a named Secret has not been read yet. Until then nothing is written. */
  readonly waits: boolean
}

type ListenerSpec = LoadBalancerSpec['listeners'][number]

/**
 * Compiles an object to a load balancer. Pure: it does not throw, whatever the object holds.
 * @param spec the object's spec, as `specOf` reads it
 */
export function compile(object: LoadBalancerObject, spec: LoadBalancerSpec, around: Surroundings): OrRefusal<Compiled> {
  const { enabled, listeners, pools, addresses, securityGroupIds = [], dnsNames = [], dnsTtlSeconds = null } = spec
  const wrong = addresses.findIndex(({ family, address }) => address !== undefined && !isOf(family, address))
  if (wrong >= 0)
    return refuse(
      'InvalidAddress',
      `spec.addresses[${wrong}].address`,
      `It is not an ${addresses[wrong]?.family} address.`,
    )
  const namespace = object.metadata.namespace ?? ''
  const found = pools.map((pool, at) => poolOf(pool, namespace, `spec.pools[${at}]`, around))
  const shownListeners = listeners.map((one, at) => listenerOf(one, namespace, `spec.listeners[${at}]`, around))
  return {
    value: {
      document: {
        name: keyOf(object).slice(0, LONGEST_NAME),
        enabled,
        annotations: sorted({
          [CLUSTER_ANNOTATION]: around.cluster,
          ...(spec.class === undefined ? {} : { [CLASS_ANNOTATION]: spec.class }),
          [ownerAnnotation('load-balancer', uidOf(object))]: keyOf(object),
        }),
        listeners: shownListeners.flatMap(({ listener }) => listener ?? []),
        pools: found.map(({ pool }) => pool),
        securityGroupIds,
        dnsNames,
        dnsTtlSeconds,
      },
      request: requestOf(spec),
      dependencies: new Set([...found, ...shownListeners].flatMap(({ dependencies }) => dependencies)),
      problems: [...found, ...shownListeners].flatMap(({ problems }) => problems),
      waits: shownListeners.some(({ waits }) => waits),
    },
  }
}

const LONGEST_NAME = 255

/** Renames `type` to `on`: the object and the native API name this field differently. */
const renamed = <T extends { readonly type?: string | undefined }>({ type, ...rest }: T) => ({
  ...(type !== undefined && { on: type }),
  ...rest,
})

/** The keys of the Secrets that an object names. */
export function secretsOf({ metadata }: LoadBalancerObject, { listeners }: LoadBalancerSpec): ReadonlySet<string> {
  const names = listeners.flatMap(({ tls }) => tls?.secretNames ?? [])
  return new Set(names.map((name) => `${metadata.namespace ?? ''}/${name}`))
}

/** The spec with its defaults; a refusal when the schema would not have admitted it. */
export function specOf({ spec }: LoadBalancerObject): OrRefusal<LoadBalancerSpec> {
  try {
    return { value: parseAs(loadBalancerSpec, spec, 'spec') }
  } catch (error) {
    if (!(error instanceof SpoutError)) throw error
    return refuse(error.code, error.field ?? 'spec', reasonOf(error.message))
  }
}

const isOf = (family: IpFamily, address: string): boolean =>
  isIp(address) && parseIp(address).version === FAMILY_OF[family]

const canonical = (address: string): string => (isIp(address) ? canonicalIp(address) : address)

function requestOf({ class: loadBalancerClass, addressPools, addresses }: LoadBalancerSpec): AddressRequest {
  return {
    families: addresses.map(({ family, address }) => ({
      family: FAMILY_OF[family],
      required: true,
      address: address === undefined ? null : canonical(address),
    })),
    pools: addressPools ?? null,
    ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
  }
}

interface CompiledPart {
  readonly dependencies: readonly string[]
  readonly problems: readonly Refusal[]
}

/**
 * Compiles a pool. Members that the object lists come before those of its sources. Each address and port counts once.
 */
function poolOf(
  { members: written, membersFrom, passiveCheck, ...options }: LoadBalancerPool,
  namespace: string,
  field: string,
  around: Surroundings,
): CompiledPart & { readonly pool: object } {
  const found = membersFrom.map((source, at) =>
    membersOf(source, options, namespace, `${field}.membersFrom[${at}]`, around),
  )
  const members = new Map<string, object>()
  const most = mostMembers(options.protocol)
  let leftOut = found.reduce((sum, one) => sum + one.leftOut, 0)
  for (const member of [...written, ...found.flatMap((one) => one.members)]) {
    const key = `${canonical(member.address)} ${member.port}`
    if (members.has(key)) continue
    if (members.size < most) members.set(key, member)
    else leftOut++
  }
  const tooMany = endpointsLeftOut(leftOut, shown(options.name), options.protocol, `${field}.membersFrom`)
  return {
    pool: {
      ...options,
      ...(passiveCheck && { passiveCheck: renamed(passiveCheck) }),
      members: [...members.values()],
    },
    dependencies: found.flatMap(({ dependencies }) => dependencies),
    problems: [...found.flatMap(({ problems }) => problems), ...(tooMany === null ? [] : [tooMany])],
  }
}

/**
 * Compiles a listener. One with TLS but without a usable certificate is left out: it would have to answer without TLS.
 */
function listenerOf(
  { tls, routes, ...others }: ListenerSpec,
  namespace: string,
  field: string,
  around: Surroundings,
): CompiledPart & { readonly listener: object | null; readonly waits: boolean } {
  const options = {
    ...others,
    routes: routes.map((route) => ({ ...route, conditions: route.conditions.map(renamed) })),
  }
  if (tls === undefined) return { listener: options, dependencies: [], problems: [], waits: false }
  const { secretNames, certificateIds, ...rest } = tls
  const ids = new Set<string>(certificateIds)
  const problems: Refusal[] = []
  let waits = false
  for (const [at, name] of secretNames.entries()) {
    const sight = around.certificate(`${namespace}/${name}`)
    if (sight.type === 'waits') waits = true
    if (sight.type === 'ready') ids.add(sight.certificate.id)
    const refusal = sight.type === 'refused' ? sight.refusal : sight.type === 'ready' ? sight.notice : null
    if (refusal !== null)
      problems.push({
        ...refusal,
        field: `${field}.tls.secretNames[${at}]`,
        message: `${refusal.field}: ${refusal.message}`,
      })
  }
  return {
    listener: ids.size === 0 ? null : { ...options, tls: { ...rest, certificateIds: [...ids] } },
    dependencies: secretNames.map((name) => `secret ${namespace}/${name}`),
    problems,
    waits,
  }
}
