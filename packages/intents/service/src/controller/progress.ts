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
    const stands = confirmed === undefined ? wasProgrammed(service) : confirmed === answers
    return stands ? { type: 'programmed', notice } : { type: 'pending', reason, message }
  }

  forget(id: string): void {
    this.#answers.delete(id)
  }
}

const wasProgrammed = ({ status }: Service): boolean =>
  (status?.conditions ?? []).some(({ type, status: state }) => type === CONDITION_PROGRAMMED && state === 'True')

/** Addresses and listeners: what a client can tell. */
const answersOf = ({ vips, listeners }: LoadBalancer): string =>
  JSON.stringify([
    vips.map(({ address }) => address),
    listeners.map(({ protocol, port, allowedCidrs }) => [protocol, port, allowedCidrs]),
  ])
