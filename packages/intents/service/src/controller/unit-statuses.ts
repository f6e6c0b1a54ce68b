import {
  Confirmations,
  type LeftOut,
  NAMES_FIELD,
  nameRefused,
  type Progress,
  type Refusal,
  reachableRequest,
  type ShownLoadBalancer,
  shownAddresses,
  uidOf,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import { dnsNamesOf } from '../to-model/dns-names.ts'
import { type ExternalIpRequest, ownAddresses, type RefusedExternal } from '../to-model/external-ips.ts'
import { asksForUs } from '../to-model/ownership.ts'
import { answeringOf } from '../write-back/answering.ts'
import { programmedSince } from '../write-back/status.ts'
import type { ControllerContext } from './context.ts'
import type { SettledGroup } from './settled-units.ts'

const NONE: ReadonlyMap<string, Refusal> = new Map()

/** Writes the statuses of a unit's Services: which addresses they have, and why they lack others. */
export class UnitStatuses {
  readonly #context: ControllerContext
  readonly #leftOut: LeftOut
  readonly #confirmations = new Confirmations()

  constructor(context: ControllerContext, leftOut: LeftOut) {
    this.#context = context
    this.#leftOut = leftOut
  }

  /** A load balancer is gone. */
  forget(id: string): void {
    this.#confirmations.forget(id)
  }

  /** Writes the statuses of a group's Services. @returns how many external addresses were refused */
  async write(
    group: SettledGroup,
    shown: ShownLoadBalancer | null,
    notMade: Progress | null,
    refusedExternals: ReadonlyMap<string, Refusal> = NONE,
  ): Promise<number> {
    let refused = 0
    for (const { service, request, unreachable, ports, ipMode, notice, externals } of group.services) {
      const notHad = [...externals.refused, ...ofWanted(externals, refusedExternals)]
      refused += notHad.length
      await this.#context.statuses.write({
        service,
        // An address that can have no members is kept, but not shown. What another controller shows stays as it is.
        request: shown === null && isTakenOver(service) ? null : reachableRequest(request, unreachable),
        addresses: shown === null ? this.#awaitedAddresses(service) : ownAddresses(shown.document),
        ports,
        ipMode,
        refusedExternals: notHad,
        page: shown === null ? null : this.#pageOf(shown),
        answering:
          shown?.status.serving === undefined ? null : answeringOf(shown.status.serving, group.services.length > 1),
        progress:
          notMade ??
          (shown === null
            ? { type: 'pending', reason: 'Allocating', message: 'It is being created.' }
            : this.#confirmations.progressOf(
                shown,
                programmedSince(service),
                this.#noticeOf(shown.document.id, service, notice),
              )),
      })
    }
    return refused
  }

  #noticeOf(id: string, service: Service, ofDraft: Refusal | null): Refusal | null {
    return (
      ofDraft ??
      this.#leftOutNotice(id, service) ??
      this.#nameNotice(id, service) ??
      this.#context.cluster.notice(service)
    )
  }

  #nameNotice(id: string, service: Service): Refusal | null {
    const refused = this.#leftOut.name(id, dnsNamesOf(service).dnsNames)
    if (refused === null) return null
    return nameRefused(refused.name, NAMES_FIELD, refused.reason)
  }

  #leftOutNotice(id: string, service: Service): Refusal | null {
    const left = this.#leftOut.of(id, uidOf(service))
    if (left === null) return null
    return { reason: 'EndpointsLeftOut', field: 'endpoints', message: `${left.count} left out: ${left.reason}` }
  }

  /** The addresses that a Service keeps without a load balancer. After the control plane lost its state it awaits one. */
  #awaitedAddresses(service: Service): readonly string[] {
    return this.#context.restoration.awaits(service) || isTakenOver(service) ? shownAddresses(service) : []
  }

  async refuse(service: Service, refusal: Refusal): Promise<void> {
    const { cluster, known, statuses } = this.#context
    const own = known.ofUid(uidOf(service))
    const held = own.flatMap(({ document }) => document.vips.map(({ address }) => address))
    const addresses = cluster.barred(service)?.keepsAddresses
      ? shownAddresses(service)
      : held.length > 0
        ? held
        : this.#awaitedAddresses(service)
    const page = own[0] === undefined ? null : this.#pageOf(own[0])
    await statuses.write({ service, request: null, addresses, ports: [], page, progress: { type: 'refused', refusal } })
  }

  #pageOf({ document }: ShownLoadBalancer): string | null {
    return this.#context.settings.page?.(document.id) ?? null
  }
}

/**
 * Whether another controller has served it until now: kube-proxy takes the packets of the addresses that it shows, and
 * MetalLB's speakers draw them. Without the addresses in the status both would end at once, although nobody else begins.
 */
const isTakenOver = (service: Service): boolean => asksForUs(service) && programmedSince(service) === null

const ofWanted = ({ wanted }: ExternalIpRequest, refused: ReadonlyMap<string, Refusal>): readonly RefusedExternal[] =>
  wanted.flatMap((address) => {
    const refusal = refused.get(address)
    return refusal === undefined ? [] : [{ address, refusal }]
  })
