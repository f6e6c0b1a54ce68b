import { parseEndpoints } from '@spout/client/endpoints'
import { AUTOSCALER_TAINT } from '@spout/kube'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'

const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)

/** URLs as one text, separated by commas, or as a list. */
const endpoints = z
  .union([z.string(), z.array(z.string())], { error: 'is neither a URL nor a list of URLs' })
  .transform((given, context) => {
    try {
      return parseEndpoints(given)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })

/** Users click on it, and messages have room for so much: nothing but the place of the page, without credentials. */
const pageUrl = z
  .string()
  .max(300)
  .refine(
    (given) => {
      if (given === '') return true
      const url = URL.parse(given)
      return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`
    },
    { error: 'is not a URL like https://spout.example.org/ui/' },
  )

/** One of three ways to log in. */
const credential = {
  /** A file that holds a token; read again when it changes. */
  tokenFile: z.string().default(''),
  /** Or an application credential, which gets tokens and renews them. */
  applicationCredentialId: z.string().default(''),
  applicationCredentialSecretFile: z.string().default(''),
  /** Or, in a pod of the cluster that the control plane is in, the pod's own token for it. */
  serviceAccountTokenFile: z.string().default(''),
}

/** How a node reaches the cluster's pods, where it does not reach each by the address of the pod's own node. */
const podWay = {
  /** The next hop to all pods, one address per family; empty: each pod's node. */
  routers: z.array(z.string().max(45)).max(2).default([]),
  /** Prefixes of the pods' addresses, where the Node objects' `podCIDRs` are not true; empty: those of the nodes. */
  podCidrs: z.array(z.string().max(49)).max(64).default([]),
}

const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

/** The namespaces of a project, and the credentials for it. */
const projectRule = z.strictObject({
  /** The rule's name in the log and in our messages. */
  name: z.string().min(1).max(63),
  /** Namespaces by name. */
  namespaces: z.array(z.string().min(1).max(63)).default([]),
  /** And those that have all of these labels. */
  namespaceLabels: z
    .record(z.string().regex(labelKey, 'is not a label name'), z.string().regex(labelValue, 'is not a label value'))
    .default({}),
  /** And those that no rule names or selects. */
  default: z.boolean().default(false),
  ...credential,
  /** Instead of `services.addressPools`. */
  addressPools: z.array(z.string().min(1)).default([]),
  /** Instead of `network.name`. */
  network: z.string().default(''),
  /** Each replaces the same setting of `network`. */
  ...podWay,
})
export type ProjectSettings = z.output<typeof projectRule>

/** Every setting of the connector with its default. */
export const connectorConfig = z.strictObject({
  /** The work of this process: balance Services, or apply configuration objects to the control plane. */
  work: z.enum(['services', 'configuration']).default('services'),
  /**
   * The control plane, and our credential there: role `balancer` in one project, or for work `configuration` an
   * administrator's.
   */
  spout: section({
    /** Or those of the installation's control planes: the one that answered last is asked, and else the next. */
    endpoint: endpoints.prefault('http://127.0.0.1:9130'),
    ...credential,
    /** The web page's URL, as users of the cluster reach it: objects say where it shows them. Empty: they do not. */
    pageUrl: pageUrl.default(''),
  }).prefault({}),
  /**
   * The project of each namespace, by the first rule that matches; without rules, all namespaces belong to the project
   * of `spout`.
   */
  projects: z.array(projectRule).default([]),
  kubernetes: section({
    /** A kubeconfig file; empty uses the service account of the pod that we are. */
    kubeconfig: z.string().default(''),
    /** Context of the kubeconfig; empty for the current one. */
    context: z.string().default(''),
    /** Distinguishes this cluster from others in the project, and never changes; empty for the UID of kube-system. */
    clusterName: z.string().max(253).default(''),
  }).prefault({}),
  services: section({
    /** The `spec.loadBalancerClass` of the Services that are ours. */
    className: z
      .string()
      .regex(/^[a-z0-9.-]+\/[A-Za-z0-9._-]+$/, 'is not a name like example.org/name')
      .default('spout.dev/load-balancer'),
    /** Whether Services without a class are ours too; if not, those that ask for it (`spout.dev/take-over`). */
    isDefault: z.boolean().default(true),
    /** Namespaces that are looked at; empty looks at all. */
    namespaces: z.array(z.string().min(1).max(63)).default([]),
    /** How workloads are reached when a Service does not say: by their endpoints, or by the nodes' ports. */
    mode: z.enum(['direct', 'node-ports']).default('direct'),
    /** Address pools for Services that name none: the first that has a free address is used; empty uses any. */
    addressPools: z.array(z.string().min(1)).default([]),
    /**
     * Only EndpointSlices of these managers are used, by label `endpointslice.kubernetes.io/managed-by`; empty uses all.
     * Whoever may write EndpointSlices by hand can name any pod of the cluster in them.
     */
    endpointSlicesBy: z.array(z.string().min(1).max(63)).default([]),
    /** Prefixes that `spec.externalIPs` of Services may come from; empty leaves external IPs alone. */
    externalIPs: z.array(z.string().min(1)).default([]),
  }).prefault({}),
  network: section({
    /** Name or id of the project's network that the cluster is in. With mode `direct` its routes to pods are kept; empty keeps none. */
    name: z.string().default(''),
    ...podWay,
  }).prefault({}),
  /** For work `configuration`. */
  configuration: section({
    /** Name of the project whose load balancers are shown as objects; empty shows none. */
    project: z.string().default(''),
    nodes: section({
      /**
       * Whether the load-balancer nodes are nodes of this cluster, with the same names. Then what Kubernetes says of a node
       * decides whether it carries traffic.
       */
      follow: z.boolean().default(false),
      /** What `kubectl cordon` does: nothing, keep new load balancers away, or move addresses away too. */
      cordon: z.enum(['ignore', 'cordon', 'drain']).default('cordon'),
      /** Types of conditions that drain a node: `Ready` unless it is True, others while they are True. */
      conditions: z
        .array(z.string().regex(labelKey, 'is not the type of a condition'))
        .max(64)
        .default(['Ready', 'NetworkUnavailable', 'KernelDeadlock', 'ReadonlyFilesystem']),
      /** Keys of taints that drain a node, whatever their effect. */
      taints: z
        .array(z.string().regex(labelKey, 'is not the key of a taint'))
        .max(64)
        .default(['node.kubernetes.io/out-of-service', AUTOSCALER_TAINT]),
      /** A node takes part again once its conditions have been good for this long. */
      returnSeconds: z.number().int().min(0).max(3600).default(30),
    }).prefault({}),
  }).prefault({}),
  /** One of several connectors works as the leader, and the others wait. */
  leader: section({
    elect: z.boolean().default(true),
    /** Where the Lease is; empty takes the namespace that we are in. */
    namespace: z.string().default(''),
    lease: z.string().min(1).max(63).default('spout-connector'),
    /** Another connector replaces a leader this long after its last renewal. A longer time tolerates a slower API server. */
    leaseSeconds: z.number().int().min(1).max(60).default(5),
  }).prefault({}),
  http: section({
    host: z.string().default('127.0.0.1'),
    /** `/healthz`, `/readyz` and `/metrics`. */
    port: z.number().int().min(0).max(65_535).default(9133),
    /** A file with the token that `/metrics` and the reasons of `/readyz` are given for; empty asks for none. */
    tokenFile: z.string().default(''),
  })
    .refine(({ host, tokenFile }) => isLoopback(host) || tokenFile !== '', {
      path: ['tokenFile'],
      error: 'is not set, and http.host is beyond loopback: metrics would be readable by everybody who reaches it',
    })
    .prefault({}),
  log: section({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
})
export type ConnectorConfig = z.output<typeof connectorConfig>
