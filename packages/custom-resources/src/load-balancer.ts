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
/** An object of an API server has 1.5 MiB at most. */
const MOST_ROUTES = 1000

const address = z.strictObject({
  family: z.enum(['IPv4', 'IPv6']),
  address: addressText.optional().describe('Exactly this one; left out, any that is free.'),
})

const { certificateIds: _, ...tlsOptions } = listenerTls.shape
const tls = z.strictObject({
  secretNames: z
    .array(z.string().min(1).max(253))
    .max(MOST_LISTENER_CERTIFICATES)
    .default([])
    .describe('Secrets of type kubernetes.io/tls in this namespace, chosen by the name that clients ask for.'),
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
  defaultPool: apiName.optional().describe('The name of a pool: gets what no route takes.'),
  routes: z.array(loadBalancerRoute).max(MOST_ROUTES).default([]).describe('Tried in order.'),
  tls: tls.optional().describe('For protocols https and tls, which need it.'),
  ...listenerOptions,
})

export const loadBalancerSpec = z.strictObject({
  enabled: z.boolean().default(true).describe('False: it keeps its addresses and serves nothing.'),
  class: apiName.optional().describe('The name of a LoadBalancerClass that the project may use.'),
  addressPools: z.array(apiName).min(1).max(16).optional().describe('Pools that the addresses may come from.'),
  addresses: z
    .array(address)
    .min(1)
    .max(2)
    .default([{ family: 'IPv4' }])
    .describe('One of each family at most. Another first address makes the load balancer anew.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['family'] }),
  listeners: z.array(listenerSpec).max(MOST_LISTENERS).default([]),
  pools: z
    .array(loadBalancerPool)
    .max(MOST_POOLS)
    .default([])
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  securityGroupIds: loadBalancer.shape.securityGroupIds.describe('Security groups of the project: who may connect.'),
  dnsNames: dnsNames.optional(),
  dnsTtlSeconds: dnsTtlSeconds.optional(),
})
export type LoadBalancerSpec = z.output<typeof loadBalancerSpec>

export const loadBalancerStatus = z.strictObject({
  id: z.string().max(64).optional().describe('The id of the load balancer in the native API.'),
  addresses: z.array(z.string().max(45)).max(16).optional(),
  members: z
    .strictObject({ total: z.int().min(0), up: z.int().min(0).describe('Not found down: those without a check too.') })
    .optional(),
  conditions: conditionsSchema.optional(),
})

/** What refers to a pool names one. Routes are checked by the control plane: so many cost too much here. */
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
            message: 'tls is for protocols https and tls, which need it',
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
            message: 'http2 is for members that are spoken to without tls; with it, alpn chooses',
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
            message: 'cookieName is for type application-cookie, which needs it',
            fieldPath: '.cookieName',
          },
        ],
        'spec.pools[].membersFrom[]': [
          {
            rule: '[has(self.service), has(self.services), has(self.endpointSlice)].filter(is, is).size() == 1',
            message: 'names one of service, services and endpointSlice',
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
