import type { DomainAdmission, DomainFinding, ModelView } from '@spout/admission/contract'
import type { TextAnswer, TextResolver } from '@spout/dns'
import {
  challengeNameOf,
  challengeValueOf,
  type DomainChecks,
  type DomainClaim,
  isChallengeValue,
  isHeld,
  SpoutError,
} from '@spout/model'
import { backoffMs, type Clock, type Component, type Logger, Semaphore, type Timer } from '@spout/runtime'
import { ProjectTurns } from './project-turns.ts'

export interface DomainProverOptions {
  readonly view: ModelView
  readonly admission: Pick<DomainAdmission, 'concludeDomainCheck'>
  /** Null: no claim is checked, and proven domains stay proven. */
  readonly resolver: Pick<TextResolver, 'texts' | 'cancel'> | null
  /** Time between checks of a proven domain. */
  readonly recheckMs: number
  /** How long a proven domain may lack its record before the project loses it. */
  readonly graceMs: number
  /** Time between two checks of one project. */
  readonly gapMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** Back-off between checks of a claim that is not proven yet, or whose record is missing. */
const PAUSES = { firstMs: 10_000, mostMs: 600_000 }
/** Limit of simultaneous checks over all projects. */
const AT_ONCE = 64

/**
 * Checks the TXT records of domain claims: at once and with back-off while a claim is not proven, periodically
 * afterwards. The checks of one project run one at a time with a pause between them, so that its slow name servers
 * delay no other project.
 */
export class DomainProver implements Component, DomainChecks {
  readonly name = 'domains'
  readonly #options: DomainProverOptions
  readonly #turns: ProjectTurns
  readonly #places = new Semaphore(AT_ONCE)
  readonly #timers = new Map<string, Timer>()
  /** By claim id: how many checks in a row did not find it proven. */
  readonly #attempts = new Map<string, number>()
  readonly #running = new Map<string, Promise<DomainClaim>>()
  #unsubscribe: () => void = () => {}
  #stopped = false

  constructor(options: DomainProverOptions) {
    this.#options = options
    this.#turns = new ProjectTurns(options.clock, options.gapMs)
  }

  get enabled(): boolean {
    return this.#options.resolver !== null
  }

  start(): void {
    if (!this.enabled) return
    const { view, recheckMs } = this.#options
    const held = view.list('domainClaim').filter(isHeld)
    // Spread over the whole interval, so that a start does not check all of them at once.
    for (const [at, { id }] of held.entries()) this.#later(id, (recheckMs * at) / held.length)
    for (const claim of view.list('domainClaim')) if (!isHeld(claim)) this.#later(claim.id, 0)
    this.#unsubscribe = view.onChange((changed) => {
      for (const { kind, id } of changed)
        if (kind === 'domainClaim') {
          if (view.get(kind, id) === null) this.#forget(id)
          else if (!this.#timers.has(id) && !this.#running.has(id)) this.#later(id, 0)
        }
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    for (const id of [...this.#timers.keys()]) this.#forget(id)
    this.#turns.stop()
    this.#options.resolver?.cancel()
    await Promise.allSettled(this.#running.values())
  }

  async check(claimId: string): Promise<DomainClaim> {
    const running = this.#running.get(claimId)
    if (running !== undefined) return running
    const waitMs = this.#turns.waitMs(this.#claim(claimId).projectId)
    if (waitMs > 0) {
      const reason = 'the checks of a project run one after the other'
      throw new SpoutError('TooManyRequests', { reason, seconds: Math.ceil(waitMs / 1000) })
    }
    return this.#run(claimId)
  }

  #claim(id: string): DomainClaim {
    const claim = this.#options.view.get('domainClaim', id)?.value
    if (claim === undefined) throw new SpoutError('NotFound', { what: 'Domain claim', id })
    return claim
  }

  #later(id: string, delayMs: number): void {
    if (this.#stopped) return
    this.#timers.get(id)?.clear()
    this.#timers.set(
      id,
      this.#options.clock.setTimer(() => {
        this.#run(id).catch((error: unknown) => {
          if (error instanceof SpoutError && error.code === 'NotFound') return
          this.#options.log.warn(
            { event: 'domain-check-failed', err: error },
            'the proof of a domain could not be checked; will try again',
          )
        })
      }, delayMs),
    )
  }

  #forget(id: string): void {
    this.#timers.get(id)?.clear()
    this.#timers.delete(id)
    this.#attempts.delete(id)
  }

  #run(id: string): Promise<DomainClaim> {
    const running = this.#running.get(id)
    if (running !== undefined) return running
    const check = this.#checked(id).finally(() => {
      this.#running.delete(id)
      const claim = this.#options.view.get('domainClaim', id)?.value
      if (claim === undefined) this.#forget(id)
      else this.#later(id, this.#pauseMs(claim))
    })
    this.#running.set(id, check)
    return check
  }

  async #checked(id: string): Promise<DomainClaim> {
    const { admission, graceMs } = this.#options
    const finding = await this.#turns.run(this.#claim(id).projectId, () =>
      this.#places.run(async () => {
        if (this.#stopped) throw new SpoutError('Unavailable', { what: 'The check', reason: 'the control plane stops' })
        return this.#find(this.#claim(id))
      }),
    )
    const claim = await admission.concludeDomainCheck(id, finding, graceMs)
    const isSettled = claim.state === 'proven' && claim.reason === 'Proven'
    this.#attempts.set(id, isSettled ? 0 : (this.#attempts.get(id) ?? 0) + 1)
    return claim
  }

  async #find(claim: DomainClaim): Promise<DomainFinding> {
    const answer: TextAnswer = (await this.#options.resolver?.texts(challengeNameOf(claim.domain))) ?? {
      why: 'no resolver',
    }
    if ('why' in answer) return { record: 'unknown', why: answer.why }
    if (answer.texts.includes(challengeValueOf(claim))) return { record: 'present' }
    return { record: answer.texts.some(isChallengeValue) ? 'other' : 'absent' }
  }

  #pauseMs({ id, state }: DomainClaim): number {
    const { recheckMs } = this.#options
    const attempts = this.#attempts.get(id) ?? 0
    if (attempts === 0) return recheckMs
    const pauseMs = backoffMs(attempts, PAUSES)
    return state === 'proven' || state === 'missing' ? Math.min(pauseMs, recheckMs) : pauseMs
  }
}
