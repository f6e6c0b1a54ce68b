import type { LoadBalancer } from '@spout/model'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { Refusal } from '../refusal.ts'

/** The state of an object's load balancer, for the object's status. */
export type Progress =
  /** Its request is refused, and why. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The nodes have not confirmed it. */
  | { readonly type: 'pending'; readonly reason: string; readonly message: string }
  /**
   * The nodes have confirmed it. A change that they have yet to confirm does not affect which addresses and ports
   * answer.
   */
  | { readonly type: 'programmed'; readonly notice: Refusal | null }
  /** The nodes or the planner report that it is impossible. */
  | { readonly type: 'failed'; readonly reason: string; readonly message: string }

/**
 * Remembers what the nodes confirmed of each load balancer. So a change of members alone does not make a working object
 * "not programmed" for a moment, with two status writes each time.
 */
export class Confirmations {
  /** Addresses and listeners at the last confirmation, by load balancer. */
  readonly #answers = new Map<string, string>()

  /**
   * @param saidSince when the object's status became programmed, RFC 3339; null when it is not
   * @param ofObject what the object's user should know of it; null: nothing
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
    // After a restart nothing is remembered: the object's own status counts until the nodes contradict it.
    const stands = confirmed === undefined ? wasProgrammed(saidSince, document) : confirmed === answers
    return stands ? { type: 'programmed', notice } : { type: 'pending', reason, message }
  }

  forget(id: string): void {
    this.#answers.delete(id)
  }
}

/** The notice that the class of a load balancer is no longer offered to its project. */
const offerNotice = ({ status: { notice } }: ShownLoadBalancer): Refusal | null =>
  notice === undefined ? null : { reason: notice.reason, field: 'load balancer', message: notice.message }

/** Times of conditions are whole seconds. */
const SECOND_MS = 1000

/** Whether the status became programmed after this load balancer was created; before, it is about an earlier one. */
const wasProgrammed = (since: string | null, { createdAt }: LoadBalancer): boolean =>
  since !== null && Date.parse(since) + SECOND_MS > Date.parse(createdAt)

/** The addresses and listeners, which are all that clients notice. */
const answersOf = ({ vips, listeners }: LoadBalancer): string =>
  JSON.stringify([
    vips.map(({ address }) => address),
    listeners.map(({ protocol, port, allowedCidrs }) => [protocol, port, allowedCidrs]),
  ])
