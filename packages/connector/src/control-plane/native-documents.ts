import { NativeApi, type Sessions } from '@spout/client/native-api'
import type { AddressCandidate } from '../addresses/address-choice.ts'
import type { ShownLoadBalancer } from './load-balancer-service.ts'
import { type AnsweredLoadBalancer, splitAnswer } from './native-bodies.ts'

/** A load balancer in the form of the native API, without addresses and class. It refers to pools by name. */
export interface LoadBalancerDocument {
  readonly name: string
  readonly enabled: boolean
  readonly annotations: Readonly<Record<string, string>>
  readonly listeners: readonly object[]
  readonly pools: readonly object[]
  /** Absent: the security groups stay as they are. */
  readonly securityGroupIds?: readonly string[]
  readonly dnsNames: readonly string[]
  readonly dnsTtlSeconds: number | null
}

/**
 * Writes whole load balancers, for intents that accept any document. Methods throw like those of `LoadBalancerService`.
 */
export interface DocumentService {
  create(
    id: string,
    document: LoadBalancerDocument,
    vip: AddressCandidate,
    classId?: string,
  ): Promise<ShownLoadBalancer>
  /** A document that equals the stored one makes no new version. */
  replace(id: string, document: LoadBalancerDocument): Promise<ShownLoadBalancer>
}

export class NativeDocuments implements DocumentService {
  readonly #api: NativeApi

  constructor(sessions: Sessions) {
    this.#api = new NativeApi(sessions)
  }

  async create(id: string, document: LoadBalancerDocument, vip: AddressCandidate, classId?: string) {
    const vips = [{ from: 'pool', ...vip }]
    const body = { id, ...document, vips, ...(classId === undefined ? {} : { classId }) }
    return splitAnswer(await this.#api.call<AnsweredLoadBalancer>('POST', '/load-balancers', body))
  }

  async replace(id: string, document: LoadBalancerDocument) {
    return splitAnswer(await this.#api.call<AnsweredLoadBalancer>('PUT', `/load-balancers/${id}`, document))
  }
}
