import type { LoadBalancer } from '@spout/model'
import type { AddressCandidate } from '../addresses/address-choice.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { ShownLoadBalancer } from './load-balancer-service.ts'

/** The API's answer: the document with its status inside. */
export type AnsweredLoadBalancer = LoadBalancer & { readonly status: ShownLoadBalancer['status'] }

/** Document and status of an answer. */
export const splitAnswer = ({ status, ...document }: AnsweredLoadBalancer): ShownLoadBalancer => ({
  document,
  status: ownStatus(status),
})

const ownStatus = ({
  provisioning,
  reason,
  message,
  confirmedGeneration,
  serving,
  notice,
}: AnsweredLoadBalancer['status']): AnsweredLoadBalancer['status'] => ({
  provisioning,
  reason,
  message,
  confirmedGeneration,
  ...(serving === undefined ? {} : { serving }),
  ...(notice === undefined ? {} : { notice }),
})

/** A load balancer to create, with an id that we chose. */
export interface Creation {
  readonly id: string
  readonly content: LoadBalancerContent
  readonly vip: AddressCandidate
  readonly classId?: string
}

/** The body of a creation. */
export const creationBody = ({ id, content, vip, classId }: Creation) => ({
  ...bodyOf(content),
  id,
  vips: [{ from: 'pool', ...vip }],
  ...(classId === undefined ? {} : { classId }),
})

/** The content in the form of the native API. */
export const bodyOf = (content: LoadBalancerContent) => ({
  name: content.name,
  description: '',
  tags: content.tags ?? [],
  enabled: true,
  annotations: content.annotations,
  // Left out without names, because older control planes do not know these fields.
  ...(content.dnsNames && { dnsNames: content.dnsNames, dnsTtlSeconds: content.dnsTtlSeconds ?? null }),
  listeners: content.listeners.map(({ defaultPool, ...listener }) => ({
    ...listener,
    ...(defaultPool === '' ? {} : { defaultPool }),
  })),
  pools: content.pools.map(({ monitor, ...pool }) => ({
    ...pool,
    monitor: monitor === null ? null : monitorBody(monitor),
  })),
})

const monitorBody = ({ path, ...monitor }: NonNullable<LoadBalancerContent['pools'][number]['monitor']>) => ({
  ...monitor,
  ...(path === null ? {} : { http: { path } }),
})
