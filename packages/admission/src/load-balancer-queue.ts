import { type LoadBalancer, SpoutError } from '@spout/model'
import type { Write } from '@spout/store'
import type { Claim } from './claims.ts'
import { type AdmissionContext, deleteOf, putOver, transact } from './context.ts'

/** Computes a change from the newest version; `next` null deletes it. Throws to refuse. May run again. */
export type Step = (
  current: LoadBalancer,
  claim: Claim,
) => { readonly next: LoadBalancer | null; readonly writes: readonly Write[] }

interface Waiting {
  readonly step: Step
  /** It writes other objects too, so it does not share its commit with other steps. */
  readonly alone: boolean
  readonly resolve: (result: LoadBalancer | null) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly result: LoadBalancer | null } | { readonly error: unknown }

/** Limits the size of a commit. */
const MOST_TOGETHER = 256

/**
 * Serialises the changes of each load balancer: each is applied to the result of the one before. Changes that arrive
 * during a commit share the next one. Different load balancers do not wait for each other.
 */
export class LoadBalancerQueue {
  readonly #context: AdmissionContext
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(context: AdmissionContext) {
    this.#context = context
  }

  /** @throws SpoutError NotFound, and the errors of the step */
  run(id: string, step: Step, options: { readonly alone: boolean }): Promise<LoadBalancer | null> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { step, alone: options.alone, resolve, reject }
      const queue = this.#waiting.get(id)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      this.#waiting.set(id, [waiting])
      void this.#drain(id)
    })
  }

  async #drain(id: string): Promise<void> {
    for (let queue = this.#waiting.get(id); queue !== undefined && queue.length > 0; queue = this.#waiting.get(id)) {
      const together = this.#nextBatch(queue)
      try {
        const outcomes = await this.#commitTogether(id, together)
        for (const [index, { resolve, reject }] of together.entries()) {
          const outcome = outcomes[index]!
          if ('error' in outcome) reject(outcome.error)
          else resolve(outcome.result)
        }
      } catch (error) {
        for (const { reject } of together) reject(error)
      }
    }
    this.#waiting.delete(id)
  }

  #nextBatch(queue: Waiting[]): Waiting[] {
    const next = queue.findIndex((one) => one.alone)
    const count = next < 0 ? MOST_TOGETHER : Math.max(1, next)
    return queue.splice(0, Math.min(count, MOST_TOGETHER))
  }

  #commitTogether(id: string, steps: readonly Waiting[]): Promise<readonly Outcome[]> {
    return transact(this.#context, (claim) => {
      const stored = this.#context.view.get('loadBalancer', id)
      if (stored === null) throw new SpoutError('NotFound', { what: 'load balancer', id })
      let current: LoadBalancer | null = stored.value
      const writes: Write[] = []
      const result = steps.map(({ step }): Outcome => {
        if (current === null) return { error: new SpoutError('NotFound', { what: 'load balancer', id }) }
        try {
          const done = step(current, claim)
          current = done.next
          writes.push(...done.writes)
          return { result: current }
        } catch (error) {
          return { error }
        }
      })
      if (current === null) writes.push(deleteOf('loadBalancer', stored))
      else if (current !== stored.value) writes.push(putOver('loadBalancer', stored, current))
      return { writes, result }
    })
  }
}
