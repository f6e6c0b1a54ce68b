import type { LoadBalancer } from '@spout/model'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { Refusal } from '../refusal.ts'

/** What is known of an object's load balancer, for its status. */
export type Progress =
  /** Its request is refused, and why. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The nodes have not confirmed it. */
  | { readonly type: 'pending'; readonly reason: string; readonly message: string }
  /** It was confirmed, and what nodes have to confirm now does not change what answers. */
  | { readonly type: 'programmed'; readonly notice: Refusal | null }
  /** The nodes, or the planner, say that it cannot be. */
  | { readonly type: 'failed'; readonly reason: string; readonly message: string }

/**
 * Remembers what was confirmed of each load balancer, so that a change of its members alone does not turn an object that
 * works into one that does not and back, with two writes each time.
 */
export class Confirmations {
  /** By load balancer: what answers, as it was when the nodes confirmed it. */
  readonly #answers = new Map<string, string>()

  /** @param saidSince when the object's status began to say that it is programmed, RFC 3339; null when it does not */
  progressOf({ document, status }: ShownLoadBalancer, saidSince: string | null, notice: Refusal | null): Progress {
    const { provisioning, reason, message, confirmedGeneration } = status
    if (provisioning === 'error') return { type: 'failed', reason, message }
    const answers = answersOf(document)
    if (provisioning === 'active' && confirmedGeneration >= document.generation) {
      this.#answers.set(document.id, answers)
      return { type: 'programmed', notice }
    }
    const confirmed = this.#answers.get(document.id)
    // After a restart nobody remembers: what the object says stands until the nodes say otherwise.
    const stands = confirmed === undefined ? wasProgrammed(saidSince, document) : confirmed === answers
    return stands ? { type: 'programmed', notice } : { type: 'pending', reason, message }
  }

  forget(id: string): void {
    this.#answers.delete(id)
  }
}

/** Conditions have whole seconds. */
const SECOND_MS = 1000

/** Whether the object said so since this load balancer is there: of an earlier one it tells nothing about this one. */
const wasProgrammed = (since: string | null, { createdAt }: LoadBalancer): boolean =>
  since !== null && Date.parse(since) + SECOND_MS > Date.parse(createdAt)

/** Addresses and listeners: what a client can tell. */
const answersOf = ({ vips, listeners }: LoadBalancer): string =>
  JSON.stringify([
    vips.map(({ address }) => address),
    listeners.map(({ protocol, port, allowedCidrs }) => [protocol, port, allowedCidrs]),
  ])
