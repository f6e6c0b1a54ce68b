import { type LoadBalancer, SpoutError } from '@spout/model'
import type { Write } from '@spout/store'
import type { Claim } from '../claims/claims.ts'
import { type AdmissionContext, deleteOf, planAndCommit, putOver } from '../claims/context.ts'
import type { Turn } from '../contract/load-balancer-admission.ts'
import { refuseAdopted } from './adopted.ts'

/** Computes a change from the newest version; `next` null deletes it. Throws to refuse. May run again. */
export type Step = (
  current: LoadBalancer,
  claim: Claim,
) => { readonly next: LoadBalancer | null; readonly writes: readonly Write[] }

export interface StepOptions {
  /** It writes other objects too, so it does not share its commit with other steps. */
  readonly alone: boolean
  /** Of a step that takes long. Such a step is alone, too. */
  readonly long?: LongStep
}

export interface LongStep {
  /**
   * Does what takes long, from a version that may not be the newest when the step is run. Called again for a newer one.
   */
  readonly prepare: (current: LoadBalancer) => Promise<void>
  /** Resolves when the next piece may be done. */
  readonly turn: Turn
}

interface Waiting extends StepOptions {
  readonly step: Step
  readonly resolve: (result: LoadBalancer | null) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly result: LoadBalancer | null } | { readonly error: unknown }

/** Limits the size of a commit. */
const MOST_TOGETHER = 256
/** Limits how long the steps of a commit take, which nothing interrupts: one of a large document takes milliseconds. */
const MOST_MS = 1

/** How often a step is prepared for newer versions. Then it is run unprepared. */
const MOST_PREPARED = 5

/**
 * Serialises the changes of each load balancer: each is applied to the result of the one before. Changes that arrive
 * during a commit share the next one. Different load balancers do not wait for each other.
 */
export class LoadBalancerQueue {
  readonly #context: AdmissionContext
  readonly #nowMs: () => number
  readonly #waiting = new Map<string, Waiting[]>()

  /** @param nowMs measures how long steps take */
  constructor(context: AdmissionContext, nowMs: () => number = () => performance.now()) {
    this.#context = context
    this.#nowMs = nowMs
  }

  /** @throws SpoutError NotFound, and the errors of the step */
  run(id: string, step: Step, options: StepOptions): Promise<LoadBalancer | null> {
    const over = this.#context.writers.begin(this.#projectOf(id))
    return new Promise<LoadBalancer | null>((resolve, reject) => {
      const waiting: Waiting = { ...options, step, resolve, reject }
      const queue = this.#waiting.get(id)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      this.#waiting.set(id, [waiting])
      void this.#drain(id)
    }).finally(over)
  }

  #projectOf(id: string): string {
    return this.#context.view.get('loadBalancer', id)?.value.projectId ?? ''
  }

  async #drain(id: string): Promise<void> {
    for (let queue = this.#waiting.get(id); queue !== undefined && queue.length > 0; queue = this.#waiting.get(id)) {
      const together = this.#nextBatch(queue)
      // Their answers do not keep the next commit waiting.
      const line = this.#projectOf(id)
      const settle = (waiting: Waiting, outcome: Outcome) =>
        this.#context.answers.begin(line, () => {
          if ('error' in outcome) waiting.reject(outcome.error)
          else waiting.resolve(outcome.result)
        })
      try {
        await this.#prepare(id, together[0]!)
        const outcomes = await this.#commitTogether(id, together)
        queue.unshift(...together.slice(outcomes.length))
        for (const [index, outcome] of outcomes.entries()) settle(together[index]!, outcome)
      } catch (error) {
        for (const waiting of together) settle(waiting, { error })
      }
    }
    this.#waiting.delete(id)
  }

  #nextBatch(queue: Waiting[]): Waiting[] {
    const next = queue.findIndex((one) => one.alone || one.long !== undefined)
    const count = next < 0 ? MOST_TOGETHER : Math.max(1, next)
    return queue.splice(0, Math.min(count, MOST_TOGETHER))
  }

  /**
   * Prepares a long step from the stored version, and again if that has changed meanwhile. In this process only moves of
   * floating IPs change a load balancer past its queue.
   */
  async #prepare(id: string, { long }: Waiting): Promise<void> {
    if (long === undefined) return
    let before: LoadBalancer | null = null
    for (let time = 0; time < MOST_PREPARED; time++) {
      const current = this.#context.view.get('loadBalancer', id)?.value ?? null
      if (current === null || current === before) return
      await long.prepare(current)
      before = current
    }
  }

  /** @returns outcomes of the first steps, of as many as there was time for */
  async #commitTogether(id: string, steps: readonly Waiting[]): Promise<readonly Outcome[]> {
    const plan = (claim: Claim) => {
      const stored = this.#context.view.get('loadBalancer', id)
      if (stored === null) throw new SpoutError('NotFound', { what: 'load balancer', id })
      refuseAdopted(stored.value)
      const { outcomes, last, writes } = this.#apply(stored.value, steps, claim)
      if (last === null) writes.push(deleteOf('loadBalancer', stored))
      else if (last !== stored.value) writes.push(putOver('loadBalancer', stored, last))
      return { writes, result: outcomes }
    }
    const { result } = await planAndCommit(this.#context, plan, {
      turn: steps[0]?.long?.turn,
      projectId: this.#projectOf(id),
    })
    return result
  }

  #apply(
    stored: LoadBalancer,
    steps: readonly Waiting[],
    claim: Claim,
  ): { readonly outcomes: readonly Outcome[]; readonly last: LoadBalancer | null; readonly writes: Write[] } {
    const { id } = stored
    const untilMs = this.#nowMs() + MOST_MS
    const writes: Write[] = []
    const outcomes: Outcome[] = []
    let last: LoadBalancer | null = stored
    for (const { step } of steps) {
      if (outcomes.length > 0 && this.#nowMs() >= untilMs) break
      if (last === null) {
        outcomes.push({ error: new SpoutError('NotFound', { what: 'load balancer', id }) })
        continue
      }
      try {
        const done = step(last, claim)
        last = done.next
        writes.push(...done.writes)
        outcomes.push({ result: last })
      } catch (error) {
        outcomes.push({ error })
      }
    }
    return { outcomes, last, writes }
  }
}
