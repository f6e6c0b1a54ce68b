import { AGE_COLUMN, type CrdDraft, conditionsSchema } from '@spout/kube'
import {
  dnsNames,
  dnsTtlSeconds,
  listener,
  listenerOptions,
  listenerTls,
  loadBalancer,
  MOST_LISTENER_CERTIFICATES,
} from '@spout/model'
import { z } from 'zod'
import { loadBalancerPool } from './load-balancer-pool.ts'
import { loadBalancerRoute } from './load-balancer-route.ts'
import { addressText, apiName, GROUP } from './words.ts'

const MOST_LISTENERS = 100
const MOST_POOLS = 200
/** Limited because an API server stores objects of up to 1.5 MiB. */
const MOST_ROUTES = 1000

const address = z.strictObject({
  family: z.enum(['IPv4', 'IPv6']),
  address: addressText.optional().describe('Exactly this address; left out: any free one.'),
})

const { certificateIds: _, ...tlsOptions } = listenerTls.shape
const tls = z.strictObject({
  secretNames: z
    .array(z.string().min(1).max(253))
    .max(MOST_LISTENER_CERTIFICATES)
    .default([])
    .describe('Secrets of type kubernetes.io/tls in this namespace, chosen by the name that the client requests.'),
  certificateIds: z
    .array(z.uuid())
    .max(MOST_LISTENER_CERTIFICATES)
    .default([])
    .describe('Certificates of the project.'),
  ...tlsOptions,
})

const listenerSpec = z.strictObject({
  name: z.string().max(255).default(''),
  enabled: z.boolean().default(true),
  protocol: listener.shape.protocol,
  port: listener.shape.port,
  defaultPool: apiName.optional().describe('The name of the pool for requests that no route matches.'),
  routes: z.array(loadBalancerRoute).max(MOST_ROUTES).default([]).describe('Tried in order.'),
  tls: tls.optional().describe('Required for protocols https and tls, and for no others.'),
  ...listenerOptions,
})

export const loadBalancerSpec = z.strictObject({
  enabled: z.boolean().default(true).describe('False: the load balancer keeps its addresses and serves nothing.'),
  class: apiName.optional().describe('The name of a LoadBalancerClass that the project may use.'),
  addressPools: z.array(apiName).min(1).max(16).optional().describe('Pools that the addresses may come from.'),
  addresses: z
    .array(address)
    .min(1)
    .max(2)
    .default([{ family: 'IPv4' }])
    .describe('At most one of each family. A change of the first address replaces the load balancer.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['family'] }),
  listeners: z.array(listenerSpec).max(MOST_LISTENERS).default([]),
  pools: z
    .array(loadBalancerPool)
    .max(MOST_POOLS)
    .default([])
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  securityGroupIds: loadBalancer.shape.securityGroupIds.describe(
    'Security groups of the project, which decide who may connect.',
  ),
  dnsNames: dnsNames.optional(),
  dnsTtlSeconds: dnsTtlSeconds.optional(),
})
export type LoadBalancerSpec = z.output<typeof loadBalancerSpec>

export const loadBalancerStatus = z.strictObject({
  id: z.string().max(64).optional().describe('The id of the load balancer in the native API.'),
  addresses: z.array(z.string().max(45)).max(16).optional(),
  members: z
    .strictObject({
      total: z.int().min(0),
      up: z.int().min(0).describe('Members that are not known to be down, including those without a health check.'),
    })
    .optional(),
  conditions: conditionsSchema.optional(),
})

/** A default pool must exist. The control plane checks routes: for so many, a CEL rule would exceed the cost limit. */
const POOL_NAMES = {
  rule: '!has(self.listeners) || self.listeners.all(l, !has(l.defaultPool) || has(self.pools) && self.pools.exists(p, p.name == l.defaultPool))',
  message: 'defaultPool of a listener is not the name of a pool',
  fieldPath: '.listeners',
} as const

export const loadBalancerCrd: CrdDraft = {
  group: GROUP,
  kind: 'LoadBalancer',
  plural: 'loadbalancers',
  shortNames: ['lb'],
  categories: ['spout'],
  scope: 'Namespaced',
  description: 'A load balancer: addresses, listeners with routes, and pools of members.',
  versions: [
    {
      name: 'v1',
      spec: loadBalancerSpec,
      status: loadBalancerStatus,
      printerColumns: [
        { name: 'Addresses', type: 'string', jsonPath: '.status.addresses' },
        { name: 'Up', type: 'integer', jsonPath: '.status.members.up' },
        { name: 'Members', type: 'integer', jsonPath: '.status.members.total' },
        { name: 'Programmed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Programmed")].status' },
        { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Programmed")].reason' },
        AGE_COLUMN,
      ],
      rules: {
        spec: [POOL_NAMES],
        'spec.listeners[]': [
          {
            rule: "has(self.tls) == (self.protocol in ['https', 'tls'])",
            message: 'tls is required for protocols https and tls, and for no others',
            fieldPath: '.tls',
          },
          {
            rule: "!has(self.tls) || !has(self.tls.separateHosts) || self.protocol == 'https'",
            message: 'separateHosts is for protocol https',
            fieldPath: '.tls.separateHosts',
          },
        ],
        'spec.pools[]': [
          {
            rule: '!has(self.tls) || !self.http2',
            message: 'http2 is for members without tls; with tls, alpn decides',
            fieldPath: '.http2',
          },
        ],
        'spec.pools[].persistence': [
          {
            rule: "!has(self.cookie) || self.type == 'cookie'",
            message: 'cookie is for type cookie',
            fieldPath: '.cookie',
          },
          {
            rule: "has(self.cookieName) == (self.type == 'application-cookie')",
            message: 'cookieName is required for type application-cookie, and for no other',
            fieldPath: '.cookieName',
          },
        ],
        'spec.pools[].membersFrom[]': [
          {
            rule: '[has(self.service), has(self.services), has(self.endpointSlice)].filter(is, is).size() == 1',
            message: 'must have exactly one of service, services and endpointSlice',
          },
        ],
        'spec.listeners[].tls': [
          {
            rule: 'self.secretNames.size() + self.certificateIds.size() > 0',
            message: 'names neither a Secret nor a certificate',
          },
        ],
      },
    },
  ],
}
