import type { LoadBalancer } from '@spout/model'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { Refusal } from '../refusal.ts'

/** The state of an object's load balancer, to be shown in the object's status. */
export type Progress =
  /** The request is refused. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The nodes have not confirmed the load balancer. */
  | { readonly type: 'pending'; readonly reason: string; readonly message: string }
  /** The nodes have confirmed its addresses and ports. They may have yet to confirm a change of something else. */
  | { readonly type: 'programmed'; readonly notice: Refusal | null }
  /** The nodes or the planner report an error. */
  | { readonly type: 'failed'; readonly reason: string; readonly message: string }

/**
 * Remembers which addresses and listeners of each load balancer the nodes have confirmed. A change of members alone
 * thus does not turn a working object "not programmed" for a moment, which would cost two status writes each time.
 */
export class Confirmations {
  /** Addresses and listeners at the last confirmation, by load balancer id. */
  readonly #answers = new Map<string, string>()

  /**
   * @param saidSince since when the object's status has said that it is programmed, RFC 3339; null when it does not
   * @param ofObject a notice for the object's user; null for none
   */
  progressOf(shown: ShownLoadBalancer, saidSince: string | null, ofObject: Refusal | null): Progress {
    const { document, status } = shown
    const notice = ofObject ?? offerNotice(shown)
    const { provisioning, reason, message, confirmedGeneration } = status
    if (provisioning === 'error') return { type: 'failed', reason, message }
    const answers = answersOf(document)
    if (provisioning === 'active' && confirmedGeneration >= document.generation) {
      this.#answers.set(document.id, answers)
      return { type: 'programmed', notice }
    }
    const confirmed = this.#answers.get(document.id)
    // After a restart nothing is remembered. Then the object's own status counts until the nodes contradict it.
    const stands = confirmed === undefined ? wasProgrammed(saidSince, document) : confirmed === answers
    return stands ? { type: 'programmed', notice } : { type: 'pending', reason, message }
  }

  forget(id: string): void {
    this.#answers.delete(id)
  }
}

/** The control plane's notice about a load balancer: that its class is no longer offered to the project. */
const offerNotice = ({ status: { notice } }: ShownLoadBalancer): Refusal | null =>
  notice === undefined ? null : { reason: notice.reason, field: 'load balancer', message: notice.message }

/** Times of conditions are rounded down to seconds. */
const SECOND_MS = 1000

/** Whether the status became programmed after this load balancer was created. Otherwise it is about an earlier one. */
const wasProgrammed = (since: string | null, { createdAt }: LoadBalancer): boolean =>
  since !== null && Date.parse(since) + SECOND_MS > Date.parse(createdAt)

/** The addresses and listeners as one text: what clients can connect to. */
const answersOf = ({ vips, listeners }: LoadBalancer): string =>
  JSON.stringify([
    vips.map(({ address }) => address),
    listeners.map(({ protocol, port, allowedCidrs }) => [protocol, port, allowedCidrs]),
  ])
