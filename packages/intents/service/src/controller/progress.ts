import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { CONDITION_PROGRAMMED } from '../names.ts'
import type { Refusal } from '../refusal.ts'
import type { ShownLoadBalancer } from '../spout/load-balancer-service.ts'
import type { Progress } from '../write-back/conditions.ts'

/**
 * Remembers what was confirmed of each load balancer, so that a change of its members alone does not turn a Service that
 * works into one that does not and back, with two writes each time.
 */
export class Confirmations {
  /** By load balancer: what answers, as it was when the nodes confirmed it. */
  readonly #answers = new Map<string, string>()

  progressOf({ document, status }: ShownLoadBalancer, service: Service, notice: Refusal | null): Progress {
    const { provisioning, reason, message, confirmedGeneration } = status
    if (provisioning === 'error') return { type: 'failed', reason, message }
    const answers = answersOf(document)
    if (provisioning === 'active' && confirmedGeneration >= document.generation) {
      this.#answers.set(document.id, answers)
      return { type: 'programmed', notice }
    }
    const confirmed = this.#answers.get(document.id)
    // After a restart nobody remembers: what the Service says stands until the nodes say otherwise.
    const stands = confirmed === undefined ? wasProgrammed(service, document) : confirmed === answers
    return stands ? { type: 'programmed', notice } : { type: 'pending', reason, message }
  }

  forget(id: string): void {
    this.#answers.delete(id)
  }
}

/** Conditions have whole seconds. */
const SECOND_MS = 1000

/** Whether the Service said so since this load balancer is there: of an earlier one it tells nothing about this one. */
function wasProgrammed({ status }: Service, { createdAt }: LoadBalancer): boolean {
  const shown = status?.conditions?.find(({ type }) => type === CONDITION_PROGRAMMED)
  if (shown?.status !== 'True') return false
  return Date.parse(shown.lastTransitionTime ?? '') + SECOND_MS > Date.parse(createdAt)
}

/** Addresses and listeners: what a client can tell. */
const answersOf = ({ vips, listeners }: LoadBalancer): string =>
  JSON.stringify([
    vips.map(({ address }) => address),
    listeners.map(({ protocol, port, allowedCidrs }) => [protocol, port, allowedCidrs]),
  ])
