import { constants, existsSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Clock, Timer } from '@spout/runtime'
import { execOk } from '@spout/sys'

export interface RequestPipeOptions {
  /** Further lines wait in the pipe. When it is full, the proxy drops and counts them. */
  readonly linesPerSecond: number
  readonly clock: Clock
  readonly onLine: (line: string) => void
}

/** Longest line. More bytes than this without a line end are dropped. */
const MOST_REST_BYTES = 4_096

/**
 * Opens the named pipe that the processes of a domain write lines to, and makes it if absent. It is opened for reading
 * and writing: so it does not end when the last writer closes it, and neither side waits for the other (fifo(7)).
 * @returns its descriptor
 */
export async function openPipe(path: string): Promise<number> {
  if (!existsSync(path)) await execOk(['mkfifo', '-m', '600', path])
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
}

/**
 * Reads the lines of one domain, at most so many in a second. Each domain has a pipe of its own, so a domain that
 * floods its pipe loses only its own lines.
 */
export class RequestPipe {
  readonly #options: RequestPipeOptions
  readonly #socket: Socket
  #rest = ''
  #left: number
  #countedAtMs: number
  #pause: Timer | null = null

  /** @param fd of `openPipe` */
  constructor(fd: number, options: RequestPipeOptions) {
    this.#options = options
    this.#left = options.linesPerSecond
    this.#countedAtMs = options.clock.monotonicMs()
    this.#socket = new Socket({ fd, readable: true, writable: false })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text: string) => this.#take(text))
    // Only lines are lost.
    this.#socket.on('error', () => {})
  }

  close(): void {
    this.#pause?.clear()
    this.#socket.destroy()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > MOST_REST_BYTES) this.#rest = ''
    for (const line of lines) this.#options.onLine(line)
    this.#spend(lines.length)
  }

  /** Counts lines that were read. Pauses reading until the rate is within the limit again. */
  #spend(lines: number): void {
    const { linesPerSecond, clock } = this.#options
    const nowMs = clock.monotonicMs()
    const earned = ((nowMs - this.#countedAtMs) / 1000) * linesPerSecond
    this.#countedAtMs = nowMs
    this.#left = Math.min(linesPerSecond, this.#left + earned) - lines
    if (this.#left >= 0) return
    this.#socket.pause()
    this.#pause = clock.setTimer(() => this.#socket.resume(), (-this.#left / linesPerSecond) * 1000)
  }
}
