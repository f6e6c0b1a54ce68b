import { FileWriter } from './file-writer.ts'
import { isDiskFull, reasonOf } from './sqlite-error.ts'
import type { Outcome, SentWrite, WriterOptions, WriterState } from './writer-messages.ts'

/** Writes to a disk that may fail. After a failure it refuses commits until a transaction succeeds again. */
export class RecoveringWriter {
  readonly #file: FileWriter
  readonly #checkpointPages: number
  #refusal: string | null = null

  /** @throws Error with the reason why the file cannot be used */
  constructor({ path, retention, checkpointPages }: WriterOptions) {
    this.#file = new FileWriter(path, retention)
    this.#checkpointPages = checkpointPages
  }

  get state(): WriterState {
    return { refusal: this.#refusal, floor: this.#file.floor }
  }

  flush(batch: readonly (readonly SentWrite[])[]): readonly Outcome[] {
    const { refusal } = this.state
    if (refusal !== null) return batch.map(() => ({ refused: refusal }))
    try {
      return this.#file.apply(batch)
    } catch (error) {
      this.#repair(error)
      // A commit that does not fit must not fail those that do.
      if (isDiskFull(error) && batch.length > 1) return batch.flatMap((commit) => this.flush([commit]))
      return batch.map(() => ({ refused: reasonOf(error) }))
    }
  }

  /** @returns why it failed; null when it is done */
  compact(sequence: number): string | null {
    try {
      this.#file.compact(sequence)
      return null
    } catch (error) {
      this.#repair(error)
      return reasonOf(error)
    }
  }

  /**
   * Keeps the WAL within its bound. What was flushed is durable already: a checkpoint that fails does not fail it, but
   * stops further commits.
   * @returns whether it changed the state
   */
  checkpoint(): boolean {
    if (this.#refusal !== null) return false
    try {
      this.#file.checkpoint(this.#checkpointPages)
      return false
    } catch (error) {
      this.#repair(error)
      return this.#refusal !== null
    }
  }

  /** Tries whether the disk works again. */
  probe(): void {
    if (this.#refusal !== null && this.#accepts()) this.#refusal = null
  }

  /** Checkpoints and releases the lock. */
  close(): void {
    this.#file.close()
  }

  #repair(cause: unknown): void {
    if (!this.#accepts()) this.#refusal ??= reasonOf(cause)
  }

  #accepts(): boolean {
    try {
      this.#file.touch()
      this.#file.checkpoint(this.#checkpointPages)
      return true
    } catch {
      return false
    }
  }
}
