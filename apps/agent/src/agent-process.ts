import { type Lifecycle, type Logger, Mutex } from '@spout/runtime'
import { startAgent } from './agent.ts'
import type { AgentConfig } from './config.ts'
import type { LocalPlans } from './settings.ts'

export interface AgentProcessOptions {
  readonly config: AgentConfig
  readonly plans: LocalPlans
  readonly log: Logger
  /** The agent that replaces another one did not start. */
  readonly onFailed: (error: unknown) => void
}

/**
 * The agent of this process. When its node's group names another fabric interface it is replaced by one for that
 * interface, as by a restart: traffic goes on meanwhile.
 */
export class AgentProcess {
  readonly #options: AgentProcessOptions
  readonly #mutex = new Mutex()
  #running: Lifecycle | null = null
  #isStopped = false

  constructor(options: AgentProcessOptions) {
    this.#options = options
  }

  /** @throws Error if it does not start */
  start(): Promise<void> {
    return this.#mutex.run(() => this.#compose())
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.#mutex.run(async () => this.#running?.stop())
  }

  async #compose(): Promise<void> {
    const { config, plans, log } = this.#options
    this.#running = await startAgent(config, plans, log, () => void this.#replace())
    log.info({ event: 'running' }, 'the agent is up')
  }

  async #replace(): Promise<void> {
    try {
      await this.#mutex.run(async () => {
        if (this.#isStopped) return
        this.#options.log.info({ event: 'replacing' }, 'the group names another fabric interface; traffic goes on')
        await this.#running?.stop()
        this.#running = null
        await this.#compose()
      })
    } catch (error) {
      this.#options.onFailed(error)
    }
  }
}
