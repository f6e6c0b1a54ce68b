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

/** A load balancer that is to be created, under an id of ours. */
export interface Creation {
  readonly id: string
  readonly content: LoadBalancerContent
  readonly vip: AddressCandidate
  readonly classId?: string
}

/** A load balancer that is to be created, as the native API takes it. */
export const creationBody = ({ id, content, vip, classId }: Creation) => ({
  ...bodyOf(content),
  id,
  vips: [{ from: 'pool', ...vip }],
  ...(classId === undefined ? {} : { classId }),
})

/** The content as the native API takes it. */
export const bodyOf = (content: LoadBalancerContent) => ({
  name: content.name,
  description: '',
  tags: content.tags ?? [],
  enabled: true,
  annotations: content.annotations,
  // Older control planes know no names.
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
