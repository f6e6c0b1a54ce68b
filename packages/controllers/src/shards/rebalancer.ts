import type { NodeGroupAdmission } from '@spout/admission/contract'
import { hasShards, type NodeGroup } from '@spout/model'
import { balancedNodes, moveUnderWay, planRebalance } from '@spout/plan'
import type { Component, Logger, Timer } from '@spout/runtime'
import { type ShardMovesOptions, stepsOf } from './shard-moves.ts'

export interface RebalancerOptions extends ShardMovesOptions {
  readonly admission: Pick<NodeGroupAdmission, 'rebalanceNodeGroup'>
  readonly log: Logger
}

/** The inputs of a rebalance, as a text to compare, and since when they are unchanged (monotonic milliseconds). */
interface Quiet {
  readonly picture: string
  readonly sinceMs: number
}

const LOOK_EVERY_MS = 1000

/** Rebalances the shards of groups with `rebalanceAfterSeconds`, after nothing has changed for that long. */
export class Rebalancer implements Component {
  readonly name = 'rebalancer'
  readonly #options: RebalancerOptions
  /** By group id. */
  readonly #quiet = new Map<string, Quiet>()
  #timer: Timer | null = null
  #looking: Promise<void> = Promise.resolve()

  constructor(options: RebalancerOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = this.#options.clock.setTimer(() => {
      this.#looking = this.look().finally(() => {
        if (this.#timer !== null) this.start()
      })
    }, LOOK_EVERY_MS)
  }

  async stop(): Promise<void> {
    this.#timer?.clear()
    this.#timer = null
    await this.#looking
  }

  /** Checks every group with `rebalanceAfterSeconds`. */
  async look(): Promise<void> {
    for (const group of this.#options.view.list('nodeGroup'))
      if ((group.rebalanceAfterSeconds ?? 0) > 0 && hasShards(group)) await this.#lookAt(group)
      else this.#quiet.delete(group.id)
  }

  async #lookAt(group: NodeGroup): Promise<void> {
    const { status, clock, admission, log } = this.#options
    const nowMs = clock.monotonicMs()
    const shards = status.shards(group.id)
    const nodes = balancedNodes(group, this.#options)
    const picture = JSON.stringify([shards.map(({ ownerNodeId, state }) => [ownerNodeId, state]), nodes])
    if (this.#quiet.get(group.id)?.picture !== picture) this.#quiet.set(group.id, { picture, sinceMs: nowMs })
    const sinceMs = this.#quiet.get(group.id)?.sinceMs ?? nowMs
    if (nowMs - sinceMs < 1000 * (group.rebalanceAfterSeconds ?? 0)) return
    if (moveUnderWay(stepsOf(group, this.#options)) !== null) return
    const moves = planRebalance(shards, nodes)
    if (moves.length === 0) return
    // Whatever the result is, the next attempt comes after the full time.
    this.#quiet.set(group.id, { picture, sinceMs: nowMs })
    log.info({ event: 'shards-rebalanced', group: group.name, moves: moves.length }, 'shards are being rebalanced')
    await admission
      .rebalanceNodeGroup(group.id, () => moves)
      .catch((error: unknown) => log.warn({ event: 'rebalance-refused', group: group.name, error: String(error) }))
  }
}
