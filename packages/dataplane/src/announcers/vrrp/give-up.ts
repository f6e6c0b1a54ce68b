import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { VrrpFiles } from './vrrp-files.ts'

/**
 * The files by which this node gives shards up: keepalived is woken by the write, goes to fault and says so to its peers
 * with an advert of priority 0, which lets another node take over at once. Written in place and at once: a broken data
 * plane must not wait for an event loop turn.
 */
export class GiveUp {
  readonly #files: VrrpFiles

  constructor(files: VrrpFiles) {
    this.#files = files
  }

  /** Makes every file exist before keepalived looks; what an earlier agent decided about health stays. */
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
