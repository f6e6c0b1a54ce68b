import { isAlive, type ProcessId } from '../../lab/record.ts'
import type { Container } from '../objects.ts'
import type { ContainerLog } from './container-log.ts'
import { signal } from './container-process.ts'
import type { ContainerState } from './pod-status.ts'
import { Readiness } from './readiness.ts'

const LONGEST_RESTART_DELAY_MS = 10_000
/** Pause after a start that failed. */
const START_AGAIN_MS = 1000

/** One container of a pod: its process with restarts, its readiness and its log. */
export class ContainerRun {
  readonly container: Container
  readonly log: ContainerLog
  /** Null: the container has no readiness probe. */
  readonly readiness: Readiness | null
  /** The last process that was started; null after its end was noted. */
  process: ProcessId | null = null
  #restarts = 0
  /** The earliest next start, by `performance.now()`. */
  #notBefore = 0

  constructor(container: Container, log: ContainerLog) {
    this.container = container
    this.log = log
    this.readiness = container.readinessProbe ? new Readiness(container.readinessProbe) : null
  }

  get isRunning(): boolean {
    return this.process !== null && isAlive(this.process)
  }

  /** Whether it has run, and its end was noted. */
  get hasEnded(): boolean {
    return this.process === null && this.#restarts > 0
  }

  get mayStart(): boolean {
    return performance.now() >= this.#notBefore
  }

  /**
   * Notes the end of the process. The first restart may follow at once, each further one a second later than the last.
   */
  ended(): void {
    this.process = null
    this.readiness?.reset()
    this.#notBefore = performance.now() + Math.min(this.#restarts * 1000, LONGEST_RESTART_DELAY_MS)
    this.#restarts++
  }

  /** Notes that a start failed. */
  startFailed(): void {
    this.#notBefore = performance.now() + START_AGAIN_MS
  }

  signal(name: NodeJS.Signals): void {
    if (this.process) signal(this.process, name)
  }

  state(): ContainerState {
    const { isRunning: running } = this
    return {
      name: this.container.name,
      image: this.container.image,
      running,
      ready: running && (this.readiness?.ready ?? true),
      restarts: this.#restarts,
    }
  }
}
