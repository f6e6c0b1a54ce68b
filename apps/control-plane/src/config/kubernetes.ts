import { z } from 'zod'
import { section } from './section.ts'

const account = z.string().regex(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/, 'is not like namespace/name')

/** The cluster that this control plane runs in. */
export const kubernetesSection = section({
  /** Whether service accounts of the cluster are accepted. */
  enabled: z.boolean().default(false),
  /** The audience that their tokens must have. */
  audience: z.string().min(1).max(253).default('spout.dev'),
  /** The accounts: each has this role in this project, nothing else. */
  accounts: z
    .array(section({ account, role: z.enum(['admin', 'balancer', 'reader']), project: z.string().min(1).max(64) }))
    .max(64)
    .default([]),
  /** The agents' account. Each may enrol the node that its pod runs on, and no other. */
  agents: account.or(z.literal('')).default(''),
  /** The group that new nodes join. */
  nodeGroup: z.string().min(1).max(64).default('default'),
  /** An existing ConfigMap whose `ca.crt` is kept equal to the agent link's authority. */
  authorityConfigMap: account.or(z.literal('')).default(''),
  /** The network of the pods, created at the first start for this project. */
  network: section({
    project: z.string().min(1).max(64),
    name: z.string().min(1).max(64).default('pods'),
    /** The name that the agents list in `hostSegments`. */
    physicalNetwork: z.string().min(1).max(32).default('cluster'),
    /**
     * How pods' answers come back. `node`: pods see the client's address, and a connection outlives every node but its
     * pod's; it needs an agent on each node that has pods. It counts when the network is created.
     */
    returnPath: z.enum(['snat', 'node']).default('snat'),
    /** Prefixes for the link between a node and its domain, one per family. They never appear on a wire. */
    links: z
      .array(section({ cidr: z.string().max(49), router: z.string().max(45) }))
      .min(1)
      .max(2),
  })
    .nullable()
    .default(null),
}).prefault({})
