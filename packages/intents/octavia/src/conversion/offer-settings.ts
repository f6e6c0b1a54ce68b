import {
  type ClassSettings,
  type DedicatedProxy,
  dedicatedProxy,
  MOST_SHARED_HEADER_BYTES,
  type NodeGroup,
  requestSizes,
  type ZoneSettings,
} from '@spout/model'
import { z } from 'zod'
import { invalidOption, subresourceNotFound, unsupportedOption } from '../wire/fault.ts'

/** The settings that a flavor profile may contain, and their meanings here. */
const FLAVOR_DATA = {
  loadbalancer_topology: {
    schema: z.enum(['SINGLE', 'ACTIVE_STANDBY']),
    meaning: 'Both are taken and served as ACTIVE_STANDBY',
  },
  node_group: { schema: z.string().max(255), meaning: 'Name or id of the node group that carries the load balancers' },
  connection_limit: {
    schema: z.number().int().min(1).max(10_000_000),
    meaning: 'Connections at once of each listener at most',
  },
  dedicated_proxy: { schema: z.boolean(), meaning: 'Whether each load balancer has a proxy process of its own' },
  proxy_memory_mb: {
    schema: dedicatedProxy.shape.memoryMegabytes.unwrap(),
    meaning: 'With dedicated_proxy, the memory of each of these processes',
  },
  proxy_processors: {
    schema: dedicatedProxy.shape.processors.unwrap(),
    meaning: 'With dedicated_proxy, the processor time of each',
  },
  proxy_connections: {
    schema: dedicatedProxy.shape.connections.unwrap(),
    meaning: 'With dedicated_proxy, the connections at once of each',
  },
  request_header_bytes: {
    schema: requestSizes.shape.headerBytes.unwrap().unwrap(),
    meaning: `Largest target and headers of a request; more than ${MOST_SHARED_HEADER_BYTES} needs dedicated_proxy`,
  },
  request_body_bytes: {
    schema: requestSizes.shape.bodyBytes.unwrap().unwrap(),
    meaning: 'Largest body of a request',
  },
} as const

/** The settings that an availability zone profile may contain, and their meanings here. */
const ZONE_DATA = {
  compute_zone: {
    schema: z.string().max(255),
    meaning: 'Name or id of the node group that carries the load balancers',
  },
  management_network: {
    schema: z.string().max(255),
    meaning: 'Taken without effect as load balancers are no machines of their own',
  },
  volume_zone: { schema: z.string().max(255), meaning: 'Taken without effect as load balancers have no volumes' },
  valid_vip_networks: {
    schema: z.array(z.guid()).max(1000),
    meaning: 'Networks that the first VIP may be from',
  },
} as const

export interface Capability {
  readonly name: string
  readonly description: string
}

const capabilities = (data: Readonly<Record<string, { readonly meaning: string }>>): readonly Capability[] =>
  Object.entries(data).map(([name, { meaning }]) => ({ name, description: meaning }))
export const FLAVOR_CAPABILITIES = capabilities(FLAVOR_DATA)
export const ZONE_CAPABILITIES = capabilities(ZONE_DATA)

const PROXY_LIMITS = ['proxy_memory_mb', 'proxy_processors', 'proxy_connections'] as const

const flavorData = z
  .strictObject({
    loadbalancer_topology: FLAVOR_DATA.loadbalancer_topology.schema.optional(),
    node_group: FLAVOR_DATA.node_group.schema.optional(),
    connection_limit: FLAVOR_DATA.connection_limit.schema.optional(),
    dedicated_proxy: FLAVOR_DATA.dedicated_proxy.schema.optional(),
    proxy_memory_mb: FLAVOR_DATA.proxy_memory_mb.schema.optional(),
    proxy_processors: FLAVOR_DATA.proxy_processors.schema.optional(),
    proxy_connections: FLAVOR_DATA.proxy_connections.schema.optional(),
    request_header_bytes: FLAVOR_DATA.request_header_bytes.schema.optional(),
    request_body_bytes: FLAVOR_DATA.request_body_bytes.schema.optional(),
  })
  .superRefine((data, context) => {
    if (data.dedicated_proxy === true) return
    for (const path of PROXY_LIMITS)
      if (data[path] !== undefined)
        context.addIssue({ code: 'custom', path: [path], message: 'needs dedicated_proxy to be true' })
    if ((data.request_header_bytes ?? 0) > MOST_SHARED_HEADER_BYTES) {
      const message = `more than ${MOST_SHARED_HEADER_BYTES} needs dedicated_proxy to be true`
      context.addIssue({ code: 'custom', path: ['request_header_bytes'], message })
    }
  })
const zoneData = z.strictObject({
  compute_zone: ZONE_DATA.compute_zone.schema.optional(),
  management_network: ZONE_DATA.management_network.schema.optional(),
  volume_zone: ZONE_DATA.volume_zone.schema.optional(),
  valid_vip_networks: ZONE_DATA.valid_vip_networks.schema.optional(),
})

/** Finds node groups by the names that profiles use. In noop mode there are none, and any name is accepted. */
export interface GroupDirectory {
  readonly groups: readonly Pick<NodeGroup, 'id' | 'name'>[]
  readonly noop: boolean
}

/** @throws OctaviaFault 400 for invalid JSON or an unknown group, 501 for a setting that is not supported here */
export function classSettingsOf(text: string, directory: GroupDirectory): ClassSettings {
  const data = parse('flavor_data', flavorData, text)
  const { node_group: group, connection_limit: connectionLimit = null } = data
  return {
    ...{ nodeGroupId: groupId(group, directory), connectionLimit, monitor: null },
    ...(data.dedicated_proxy === true && { dedicatedProxy: proxyLimitsOf(data) }),
    ...sizesOf(data),
  }
}

const sizesOf = ({
  request_header_bytes: headerBytes,
  request_body_bytes: bodyBytes,
}: z.output<typeof flavorData>): Pick<ClassSettings, 'requestSizes'> =>
  headerBytes === undefined && bodyBytes === undefined
    ? {}
    : { requestSizes: { headerBytes: headerBytes ?? null, bodyBytes: bodyBytes ?? null } }

const proxyLimitsOf = ({
  proxy_memory_mb: memoryMegabytes,
  proxy_processors: processors,
  proxy_connections: connections,
}: z.output<typeof flavorData>): DedicatedProxy => ({
  ...(memoryMegabytes !== undefined && { memoryMegabytes }),
  ...(processors !== undefined && { processors }),
  ...(connections !== undefined && { connections }),
})

/** @throws OctaviaFault as `classSettingsOf` */
export function zoneSettingsOf(text: string, directory: GroupDirectory): ZoneSettings {
  const data = parse('availability_zone_data', zoneData, text)
  return {
    nodeGroupId: groupId(data.compute_zone, directory),
    ...(data.valid_vip_networks !== undefined && { vipNetworkIds: data.valid_vip_networks }),
  }
}

/** The profile that is shown for a class which was made without one. */
export const flavorDataOf = (
  { nodeGroupId, connectionLimit, dedicatedProxy: proxy, requestSizes: sizes }: Omit<ClassSettings, 'monitor'>,
  { groups }: GroupDirectory,
): string =>
  JSON.stringify({
    ...(nodeGroupId !== null && { node_group: groups.find(({ id }) => id === nodeGroupId)?.name ?? nodeGroupId }),
    ...(connectionLimit !== null && { connection_limit: connectionLimit }),
    ...(proxy !== undefined && { dedicated_proxy: true }),
    ...(proxy?.memoryMegabytes !== undefined && { proxy_memory_mb: proxy.memoryMegabytes }),
    ...(proxy?.processors !== undefined && { proxy_processors: proxy.processors }),
    ...(proxy?.connections !== undefined && { proxy_connections: proxy.connections }),
    ...(sizes?.headerBytes != null && { request_header_bytes: sizes.headerBytes }),
    ...(sizes?.bodyBytes != null && { request_body_bytes: sizes.bodyBytes }),
  } satisfies z.input<typeof flavorData>)

function parse<T>(option: string, schema: z.ZodType<T>, text: string): T {
  const parsed = schema.safeParse(jsonOf(option, text))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = [option, ...(issue?.path ?? [])].join('.')
  throw unsupportedOption(`${field}: ${issue?.message ?? 'is not valid'}`)
}

function jsonOf(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidOption(text, option)
  }
}

function groupId(named: string | undefined, { groups, noop }: GroupDirectory): string | null {
  if (named === undefined) return null
  const found = groups.find(({ id, name }) => id === named || name === named)
  if (found === undefined && !noop) throw subresourceNotFound('Node group', named)
  return found?.id ?? null
}
