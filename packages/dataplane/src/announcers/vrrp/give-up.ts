import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { VrrpFiles } from './vrrp-files.ts'

/**
 * Writes the files by which this node gives shards up. keepalived tracks them: it goes to fault and sends an advert of
 * priority 0, so that another node takes over at once. The write is synchronous and in place, since a broken data plane
 * must not wait for an event-loop turn.
 */
export class GiveUp {
  readonly #files: VrrpFiles

  constructor(files: VrrpFiles) {
    this.#files = files
  }

  /** Creates the files before keepalived starts. What an earlier agent decided about health stays. */
  prepare(shards: readonly number[]): void {
    const { drained, unhealthy, held } = this.#files
    for (const file of [drained, unhealthy, ...shards.map(held)]) if (!existsSync(file)) put(file, false)
  }

  get drained(): boolean {
    return isSet(this.#files.drained)
  }

  set drained(value: boolean) {
    if (value !== this.drained) put(this.#files.drained, value)
  }

  get unhealthy(): boolean {
    return isSet(this.#files.unhealthy)
  }

  set unhealthy(value: boolean) {
    if (value !== this.unhealthy) put(this.#files.unhealthy, value)
  }

  isHeld(shard: number): boolean {
    return isSet(this.#files.held(shard))
  }

  hold(shard: number, value: boolean): void {
    if (value !== this.isHeld(shard)) put(this.#files.held(shard), value)
  }
}

function put(file: string, value: boolean): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, value ? '1\n' : '0\n', { mode: 0o600 })
}

function isSet(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() === '1'
  } catch {
    return false
  }
}
