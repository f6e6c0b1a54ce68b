import type { CarriedRequest } from '../../../contracts/driver.ts'
import { parseRequestLine } from './request-lines.ts'
import { openPipe, RequestPipe, type RequestPipeOptions } from './request-pipe.ts'

/** Called for each request or connection of listeners whose requests are logged or timed. Must not throw. */
export type OnRequest = (request: CarriedRequest) => void

/**
 * Lines of requests since the agent started. `dropped`: the pipe was full, because lines came faster than the agent may read
 * them, or the agent was away. `ignored`: of listeners that asked for no lines, since the proxy logs broken requests of all
 * listeners; or cut.
 */
export type LineCounts = Readonly<Record<'read' | 'dropped' | 'ignored', number>>

export interface ToldRequestsOptions extends Pick<RequestPipeOptions, 'linesPerSecond' | 'clock'> {
  readonly onRequest: OnRequest
  readonly count: (what: keyof LineCounts, lines: number) => void
  /** `NodePool.number` of a backend's slot; null for none. */
  readonly poolOf: (slot: number) => number | null
}

/** Reads the request log of one domain's proxy. */
export class ToldRequests {
  readonly #pipe: RequestPipe
  readonly #count: ToldRequestsOptions['count']
  /** Lines that the running process dropped. */
  #dropped: { readonly generation: number; readonly lines: number } | null = null

  private constructor(pipe: number, { onRequest, poolOf, count, ...options }: ToldRequestsOptions) {
    const onLine = (line: string): void => {
      count('read', 1)
      const told = parseRequestLine(line)
      if (told === null) count('ignored', 1)
      else {
        const { backendSlot, ...request } = told
        onRequest({ ...request, pool: backendSlot === null ? null : poolOf(backendSlot) })
      }
    }
    this.#count = count
    this.#pipe = new RequestPipe(pipe, { ...options, onLine })
  }

  /** @param path the named pipe that the processes write to */
  static async listen(path: string, options: ToldRequestsOptions): Promise<ToldRequests> {
    return new ToldRequests(await openPipe(path), options)
  }

  /** Adds the lines that a process has dropped since it started. */
  dropped(generation: number, lines: number): void {
    const before = this.#dropped?.generation === generation ? this.#dropped.lines : 0
    if (this.#dropped !== null) this.#count('dropped', Math.max(0, lines - before))
    this.#dropped = { generation, lines }
  }

  close(): void {
    this.#pipe.close()
  }
}
