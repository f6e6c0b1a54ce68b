import { ANNOUNCER_NAMES } from '@spout/model'
import { z } from 'zod'
import { IMAGE, LINKS, SLICE_CONTROLLER } from '../in-cluster/names.ts'
import { ON_EVERY_LINUX } from '../in-cluster/pod.ts'

/**
 * The chart's values: names, checks, defaults, and the comments that an operator reads. `values.yaml` and
 * `values.schema.json` are made from it, so a value that is not here is refused by its name. A default is what
 * `spout.yaml` has in the place where the value goes (`holes.ts`).
 */

const object = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)

/** Prefixes are checked again by the programs; this catches what is no prefix before anything is installed. */
const cidr = z.string().regex(/^([0-9]{1,3}(\.[0-9]{1,3}){3}\/[0-9]{1,2}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*\/[0-9]{1,3})$/)
const address = z.string().regex(/^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/)
/** As Kubernetes reads them: 100m, 1Gi. */
const quantity = z.union([z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/), z.number()])
const name = z.string().regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$/)
const labels = z.record(z.string().min(1), z.string())

const toleration = object({
  key: z.string().optional(),
  operator: z.enum(['Exists', 'Equal']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.number().int().optional(),
})
type Resources = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Where the pods of a program run, and what they may use. */
const pods = (priorityClassName: string, resources: Resources) => ({
  nodeSelector: labels.default({ ...ON_EVERY_LINUX.nodeSelector }).describe('Labels of the nodes that it runs on.'),
  tolerations: z
    .array(toleration)
    .default([...ON_EVERY_LINUX.tolerations])
    .describe('Taints that it tolerates. This list replaces the default one.'),
  priorityClassName: name.default(priorityClassName).describe('Empty: none.'),
  resources: object({
    requests: z.record(z.string(), quantity).optional(),
    limits: z.record(z.string(), quantity).optional(),
  }).default(resources),
})

const between = pods('system-cluster-critical', {
  requests: { cpu: '50m', memory: '96Mi' },
  limits: { memory: '512Mi' },
})

const addresses = {
  announcer: z
    .enum(ANNOUNCER_NAMES)
    .default('vrrp')
    .describe(
      'How the nodes announce addresses. The control plane reads it at its very first start; later change NodeGroups.\n' +
        'bgp: needs localAs, and a BgpPeer for each router.',
    ),
  localAs: z
    .number()
    .int()
    .min(0)
    .max(0xffff_ffff)
    .default(0)
    .describe('AS number of the nodes, for announcer bgp; 0: none.'),
  fabricInterface: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,15}$/)
    .default('')
    .describe("The nodes' interface that clients come in on. Empty: the one with the node's InternalIP."),
  fabricReaches: address
    .or(z.literal(''))
    .default('')
    .describe(
      'In place of fabricInterface: an address in the network of that interface, such as its router, where nodes name their\n' +
        'interfaces differently.',
    ),
  fabricCidrs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      "Networks of the nodes' own addresses, all of them if there are any. Needed where NodeGroups name interfaces in several\n" +
        'networks. Empty: the first address of each node, and others in the network of one.',
    ),
  managementCidrs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      'Networks that no endpoint of a Service may be in and no packet of a Service may go to: management, storage.',
    ),
  podCidrs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe("All prefixes of pods, if they have addresses outside their node's spec.podCIDRs (Calico, Cilium)."),
  links: z
    .array(object({ cidr, router: address }))
    .min(1)
    .max(2)
    .default(LINKS.map((link) => ({ ...link })))
    .describe(
      'Addresses between a node and its own domains, one prefix per family. They never leave the node; change them if the\n' +
        'nodes talk to networks with these addresses.',
    ),
  returnPath: z
    .enum(['snat', 'node'])
    .default('snat')
    .describe(
      'node: pods see clients, and connections outlive the node that has the address. Nodes may then send packets with\n' +
        'addresses of Services as source, which some networks drop. It is read when the pod network is made.',
    ),
}

/** What Services, Ingresses and Gateways may say. */
const requests = {
  isDefault: z
    .boolean()
    .default(true)
    .describe(
      'Whether Services without a class are served. false: they must name the class spout.dev/load-balancer, or have the\n' +
        'annotation spout.dev/take-over: "true".',
    ),
  endpointSlicesBy: z
    .array(z.string().min(1).max(63))
    .default([SLICE_CONTROLLER])
    .describe(
      'Controllers whose EndpointSlices count. Everybody who may write slices in the name of one of them is trusted to name\n' +
        'any pod of the cluster.',
    ),
  pageUrl: z
    .string()
    .max(300)
    .regex(/^(https?:\/\/[^\s?#@]+)?$/)
    .default('')
    .describe(
      'The web page, as users reach it, such as https://spout.example.org/ui/. Conditions and events of their objects then\n' +
        'say where it shows them. Empty: they do not.',
    ),
  gatewayApi: z
    .boolean()
    .default(false)
    .describe('The rights for Gateways and their routes. Set it once Gateway API is installed.'),
}

const shares = {
  shares: object({
    packetsPerProcessor: z
      .number()
      .int()
      .min(1_000)
      .max(100_000_000)
      .default(250_000)
      .describe('Packets in a second, for each processor of the node.'),
    newFlowsPerProcessor: z
      .number()
      .int()
      .min(10)
      .max(10_000_000)
      .default(20_000)
      .describe('New connections by TCP in a second, for each processor of the node; half as many by UDP and SCTP.'),
    megabytesPerSecond: z.number().int().min(1).max(16_000).default(5_000),
  })
    .prefault({})
    .describe(
      'Fair shares: the most that one tenant network may use of a node, for its clients and again for its members. What is\n' +
        'beyond is dropped, so that other tenants have theirs.',
    ),
  proxies: object({
    maxConnections: z.number().int().min(16).max(200_000).default(4_000).describe('Concurrent connections; more wait.'),
    sourceShare: z
      .number()
      .min(0.01)
      .max(1)
      .default(0.5)
      .describe('The part of them that one client address may have; 1: all.'),
    requestSeconds: z.number().min(1).max(600).default(10).describe('Time for the header of a request.'),
    memoryMegabytes: z
      .number()
      .int()
      .min(32)
      .max(1_000_000)
      .default(256)
      .describe('A proxy that needs more is ended and started anew.'),
    processors: z.number().min(0.05).max(1_024).default(1).describe('Processor time, in processors.'),
  })
    .prefault({})
    .describe('The same for the proxy of one tenant network on a node (HTTP, HTTPS, TLS).'),
  checks: object({
    mostOfProject: z.number().int().min(1).max(100_000).default(256).describe('Concurrent probes of one project.'),
    ownShare: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(32)
      .describe('Of these, those that it has whatever the others do.'),
    perSecond: z.number().int().min(1).max(1_000_000).default(2_000).describe('Probes in a second of one project.'),
    perSecondOfTarget: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(50)
      .describe('Probes in a second to one address and port.'),
  })
    .prefault({})
    .describe('The same for health checks.'),
}

const nodes = object({
  cordon: z
    .enum(['ignore', 'cordon', 'drain'])
    .default('cordon')
    .describe('What kubectl cordon does. ignore: nothing; cordon: nothing new; drain: addresses move away too.'),
  conditions: z
    .array(z.string().min(1).max(316))
    .max(64)
    .default(['Ready', 'NetworkUnavailable', 'KernelDeadlock', 'ReadonlyFilesystem'])
    .describe(
      'Conditions that drain a node: Ready unless it is True, others while they are True, such as those of\n' +
        'node-problem-detector.',
    ),
  taints: z
    .array(z.string().min(1).max(316))
    .max(64)
    .default(['node.kubernetes.io/out-of-service', 'ToBeDeletedByClusterAutoscaler'])
    .describe('Keys of taints that drain a node.'),
  returnSeconds: z
    .number()
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe('It takes part again once its conditions have been good for this long.'),
})
  .prefault({})
  .describe('What of Kubernetes takes a node out of use.')

const store = object({
  kind: z
    .enum(['volume', 'cluster'])
    .default('volume')
    .describe(
      'volume: a file on a volume. cluster: objects in the API of the cluster, and keys in a Secret: nothing to provision.\n' +
        'What etcd then holds: docs/store-in-the-cluster.md. A store is not moved from one to the other.',
    ),
  volume: object({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'false: the store is lost with the pod. Everything is built again from the cluster, but all pods of Spout must be\n' +
          'restarted then, and what was made through the native API is gone.',
      ),
    size: quantity.default('1Gi'),
    storageClassName: name.default('').describe("Empty: the cluster's default class."),
    existingClaim: name
      .default('')
      .describe('A PersistentVolumeClaim that is there already, instead of one of the chart.'),
  }).prefault({}),
})
  .prefault({})
  .describe("The control plane's store. Helm keeps it, on a volume or in the cluster, when the release is uninstalled.")

const monitoring = object({
  podMonitor: object({
    enabled: z.boolean().default(false),
    labels: labels.default({}),
    interval: z
      .string()
      .regex(/^[0-9]+(ms|s|m)$/)
      .default('30s'),
  })
    .prefault({})
    .describe(
      'Objects of the Prometheus operator, whose definitions must be installed. The metrics need Secret status-token, which\n' +
        'NOTES says how to make. A PodMonitor, because these pods have no Service for metrics.',
    ),
  prometheusRule: object({ enabled: z.boolean().default(false), labels: labels.default({}) })
    .prefault({})
    .describe('The alerts, each with a section of docs/runbook.md.'),
  dashboard: object({ enabled: z.boolean().default(false), labels: labels.default({ grafana_dashboard: '1' }) })
    .prefault({})
    .describe("A ConfigMap with the dashboard, for Grafana's sidecar."),
})
  .prefault({})
  .describe('All off by default.')

export const chartValues = object({
  image: z
    .string()
    .min(1)
    .max(512)
    .default(IMAGE)
    .describe(
      'The image with all programs. There is none to download: build it (docs/kubernetes-in-cluster.md) and name yours.',
    ),
  imagePullSecrets: z
    .array(object({ name: z.string().min(1) }))
    .default([])
    .describe('Secrets for your registry.'),
  crds: object({
    install: z.boolean().default(true),
  })
    .prefault({})
    .describe('The kinds of group spout.dev. Upgrades change them, and uninstalling keeps them and their objects.'),
  ...addresses,
  ...requests,
  ...shares,
  nodes,
  store,
  monitoring,
  controlPlane: object({
    replicas: z
      .number()
      .int()
      .min(1)
      .max(5)
      .default(1)
      .describe(
        'One of them leads; when it dies another does within seconds. More than one needs store.kind cluster. 2 are enough.',
      ),
    ...pods('system-cluster-critical', { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } }),
  })
    .prefault({})
    .describe('Plans, and serves the API.'),
  configuration: object(between).prefault({}).describe('One pod, which applies AddressPools and the other kinds.'),
  connector: object({
    replicas: z.number().int().min(1).max(5).default(2).describe('One of them works, the others wait to take over.'),
    ...between,
  })
    .prefault({})
    .describe('Turns Services and their endpoints into load balancers.'),
  agent: object(pods('system-node-critical', { requests: { cpu: '100m', memory: '96Mi' } }))
    .prefault({})
    .describe('A pod on every node that carries traffic. No limit of memory: the proxies have one each.'),
  global: z.record(z.string(), z.unknown()).optional().describe('What charts around this one say to all.'),
})

/** Every value with its default. */
export const DEFAULT_VALUES = chartValues.parse({})
