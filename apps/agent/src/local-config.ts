import { LOCAL_NAME, MOST_LOCAL, MOST_LOCAL_MEMBERS } from '@spout/model/local-report'
import { cidrText, endpointIpText, ipText, port } from '@spout/model/scalars'
import type { LocalSettings } from '@spout/plan/local'
import { localProblems } from '@spout/plan/local-problems'
import { z } from 'zod'

/** How members are checked. The defaults are for the API server of Kubernetes. */
const check = z
  .strictObject({
    /** `https` does not verify the member's certificate. */
    type: z.enum(['tcp', 'http', 'https']).default('https'),
    /** For `http` and `https`; an answer from 200 to 299 is a success. */
    path: z
      .string()
      .max(255)
      .regex(/^\/[\x21-\x7e]*$/, 'must begin with / and hold printable ASCII without spaces')
      .default('/readyz'),
    intervalMs: z.number().int().min(100).max(3_600_000).default(250),
    timeoutMs: z.number().int().min(10).max(60_000).default(1_000),
    /** Successes in a row that bring a member up. */
    rise: z.number().int().min(1).max(10).default(2),
    /** Failures in a row that take a member down. */
    fall: z.number().int().min(1).max(10).default(2),
  })
  .prefault({})

const loadBalancer = z.strictObject({
  address: endpointIpText,
  port: port.default(6443),
  /** Addresses of members, such as the masters; a node itself may be one. */
  members: z.array(endpointIpText).min(1).max(MOST_LOCAL_MEMBERS),
  /** Default: `port`. */
  memberPort: port.optional(),
  check,
})

const shape = z.strictObject({
  /** Fabric addresses of the nodes that may have the addresses, the same list on each. The first is the first owner. */
  nodes: z.array(ipText).max(16).default([]),
  /** The VRID, which nothing else on the segment uses between these nodes. */
  routerId: z.number().int().min(1).max(255).default(255),
  /** How fast a silent owner is replaced. */
  profile: z.enum(['default', 'fast', 'relaxed']).default('default'),
  /** Prefix of the virtual cable between the node and its local domain, which nothing else uses. */
  links: z.array(cidrText).max(1).default(['100.127.16.0/30']),
  /** By name. */
  loadBalancers: z
    .record(z.string(), loadBalancer)
    .refine((all) => Object.keys(all).length <= MOST_LOCAL, { message: `has more than ${MOST_LOCAL}` })
    .superRefine((all, context) => {
      for (const name of Object.keys(all))
        if (!LOCAL_NAME.test(name))
          context.addIssue({ code: 'custom', path: [name], message: 'is not a name like api-server' })
    })
    .default({}),
})
type Local = z.output<typeof shape>

/** What the node balances by its own settings, with or without a control plane. */
export const localConfig = shape
  .superRefine((local, context) => {
    for (const { path, message } of localProblems(localSettings(local)))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
  .prefault({})

/** The settings as the planner reads them. */
export const localSettings = ({ loadBalancers, ...settings }: Local): LocalSettings => ({
  ...settings,
  loadBalancers: Object.entries(loadBalancers).map(([name, { members, memberPort, check: how, ...one }]) => ({
    ...{ ...one, name },
    members: members.map((address) => ({ address, port: memberPort ?? one.port })),
    check: { ...how, path: how.type === 'tcp' ? null : how.path },
  })),
})
