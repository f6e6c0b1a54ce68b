import { MANAGED_BY } from '@spout/connector/objects'
import { type KubeObject, type Resource, SERVICES, type Service } from '@spout/kube'
import { cidrToRange, formatIpRange, type IpRange, parseCidr, parseIpRange, rangesOverlap } from '@spout/net'
import { type InstalledSettings, readInstallation } from '../installation.ts'
import { DAEMON_SETS, DEPLOYMENTS, type Workload } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'
import { objectsOf, type SpoutObject } from '../spout-objects.ts'

export interface OtherBalancersReading {
  /** Whether our connector takes Services without a class. */
  readonly isDefault: boolean
  /** Others that take such Services, by their workload. */
  readonly others: readonly { readonly name: string; readonly workload: string; readonly namespace: string }[]
  /** Whether MetalLB announces: a pod of its runs on nodes. */
  readonly announces: boolean
  /** Addresses that both pools have. */
  readonly shared: readonly { readonly pool: string; readonly other: string; readonly addresses: string }[]
  /** Services of us and of others that show the same address. */
  readonly twice: readonly { readonly address: string; readonly ours: string; readonly other: string }[]
}

const METALLB_POOLS: Resource<KubeObject & { readonly spec?: { readonly addresses?: readonly string[] } }> = {
  ...{ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', plural: 'ipaddresspools', namespaced: true },
}

export async function readOtherBalancers(place: ClusterPlace): Promise<OtherBalancersReading> {
  const installation = await readInstallation(place)
  const workloads = [...(await place.list(DEPLOYMENTS)), ...(await place.list(DAEMON_SETS))]
  const others = workloads.flatMap((workload) => {
    const name = nameOf(workload)
    const { metadata, kind = '' } = workload
    const full = `${kind.toLowerCase()}/${metadata.name}`
    return name === null ? [] : [{ name, workload: full, namespace: metadata.namespace ?? 'default' }]
  })
  const metalLbPools = await place.list(METALLB_POOLS)
  const services = await place.list(SERVICES)
  return {
    isDefault: installation?.workloads.has('connector') === true && installation.settings.isDefault,
    others,
    announces: workloads.some((one) => one.kind === 'DaemonSet' && runs(one) && images(one).some(isMetalLb)),
    shared: (await objectsOf(place, 'AddressPool')).flatMap((pool) =>
      metalLbPools.flatMap((other) => overlapOf(pool, other.metadata.name, other.spec?.addresses ?? [])),
    ),
    twice: sameAddress(services, installation?.settings),
  }
}

const images = ({ spec }: Workload): readonly string[] => spec.template.spec.containers.map(({ image }) => image)
const isMetalLb = (image: string): boolean => /(^|\/)metallb\//.test(image)
const runs = ({ kind, spec, status }: Workload): boolean =>
  kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) > 0 : (spec.replicas ?? 1) > 0

/** The name of a balancer that takes Services without a class; null for what is none, or only takes those of a class. */
function nameOf(workload: Workload): string | null {
  if (!runs(workload)) return null
  for (const { image, command = [], args = [], env = [] } of workload.spec.template.spec.containers) {
    const words = [...command, ...args].join(' ')
    const has = (name: string) => env.some((one) => one.name === name && one.value === 'true')
    if (/(^|\/)metallb\/controller[:@]/.test(image) && !/--lb-class[= ]\S/.test(words)) return 'MetalLB'
    if (/(^|\/)kube-vip[:@]/.test(image) && (has('svc_enable') || /--services\b/.test(words)) && !has('lb_class_only'))
      return 'kube-vip'
    if (/klipper-lb[:@]/.test(image)) return 'ServiceLB of K3s'
    if (/cloud-controller-manager[:@]/.test(image) && !/--controllers[= ]\S*-service\b/.test(words))
      return "the cloud's controller manager"
  }
  return null
}

function overlapOf(pool: SpoutObject, other: string, texts: readonly string[]) {
  const entries = (pool.spec['addresses'] ?? []) as readonly { cidr?: string; first?: string; last?: string }[]
  const ours = entries.flatMap(({ cidr, first, last }) => rangeOf(cidr ?? `${first}-${last}`) ?? [])
  const overlap = texts.flatMap((text) => {
    const theirs = rangeOf(text)
    return theirs !== null && ours.some((range) => rangesOverlap(range, theirs)) ? [formatIpRange(theirs)] : []
  })
  return overlap.length === 0 ? [] : [{ pool: pool.metadata.name, other, addresses: overlap.join(', ') }]
}

/** Null for what is no range: its own project says so. */
function rangeOf(text: string): IpRange | null {
  try {
    return text.includes('-') ? parseIpRange(text) : cidrToRange(parseCidr(text, 'clear'))
  } catch {
    return null
  }
}

function sameAddress(services: readonly Service[], settings: InstalledSettings | undefined) {
  const shown = services.flatMap((service) =>
    (service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) =>
      ip === undefined
        ? []
        : [{ ip, isOurs: isOurs(service, settings), name: `${service.metadata.namespace}/${service.metadata.name}` }],
    ),
  )
  return [...Map.groupBy(shown, ({ ip }) => ip)].flatMap(([address, alike]) => {
    const [ours, other] = [alike.find((one) => one.isOurs), alike.find((one) => !one.isOurs)]
    return ours === undefined || other === undefined ? [] : [{ address, ours: ours.name, other: other.name }]
  })
}

const isOurs = ({ metadata }: Service, settings: InstalledSettings | undefined): boolean => {
  const mark = metadata.annotations?.[MANAGED_BY]
  return mark !== undefined && (settings === undefined || mark === settings.className)
}
