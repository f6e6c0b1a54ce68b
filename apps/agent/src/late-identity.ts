import type { LinkServers } from '@spout/agent'
import type { AgentLink } from '@spout/client/agent-link'
import { Backoff, type Component, pause } from '@spout/runtime'
import { NodeIdentity, type NodeIdentityOptions } from './identity.ts'

const LIMITS = { firstMs: 250, mostMs: 5_000 }

/**
 * The identity of a node that has work without one. It enrols once the control plane is there, which may itself be
 * reached through what this node balances.
 */
export class LateIdentity implements Component, LinkServers {
  readonly name = 'node-identity'
  readonly #options: NodeIdentityOptions
  readonly #stopping = new AbortController()
  #identity: NodeIdentity | null = null
  #opening: Promise<void> | null = null

  constructor(options: NodeIdentityOptions) {
    this.#options = options
  }

  /** @throws Error while the node has not enrolled */
  get link(): AgentLink {
    if (this.#identity === null) throw new Error('the node has not enrolled yet')
    return this.#identity.link
  }

  get count(): number {
    return this.#identity?.count ?? 1
  }

  next(): void {
    this.#identity?.next()
  }

  start(): void {
    this.#opening = this.#open()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#opening
    this.#identity?.stop()
  }

  async #open(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    const backoff = new Backoff({ ...LIMITS, random: Math.random })
    while (this.#identity === null && !signal.aborted) {
      try {
        this.#identity = await NodeIdentity.open(this.#options)
        this.#identity.start()
      } catch (error) {
        log.warn({ event: 'not-enrolled', err: error }, 'the node has not enrolled; its own settings are in force')
        await pause(clock, backoff.next(), signal)
      }
    }
  }
}
