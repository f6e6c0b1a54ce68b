import type { IncomingMessage } from 'node:http'
import {
  Backoff,
  type BodyLimits,
  BodyTooLong,
  bodyText,
  type Clock,
  pause,
  type Random,
  systemClock,
} from '@spout/runtime'
import { LineSplitter } from '@spout/runtime/ndjson'
import type { ClusterAccess } from '../access/cluster-access.ts'
import type { Status } from '../types/index.ts'
import { Connection, unreachable } from './connection.ts'
import { KubeError, KubeUnreachable } from './errors.ts'

export type QueryValue = string | number | boolean | undefined

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: unknown
  /** `application/json` when left out. */
  readonly contentType?: string
  readonly signal?: AbortSignal
  /** Time limit for all attempts and the pauses between them. */
  readonly deadlineMs?: number
  readonly maxBodyBytes?: number
  /** Whether repeating the request is harmless. Left out: true for everything but POST. */
  readonly idempotent?: boolean
  /** False: the body of a success is skipped, and `request` resolves with null. */
  readonly read?: boolean
  /** False: only one attempt is made, whatever the answer. */
  readonly retry?: boolean
  /** Called with the size of each piece of the answer. */
  readonly onBytes?: (bytes: number) => void
}

export interface StreamRequest {
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly signal: AbortSignal
  /** A stream without a byte for this long counts as dead. */
  readonly silenceMs: number
  /** Called when the server has begun the stream. */
  readonly onOpen?: () => void
  /** Called with the size of each piece of the answer. */
  readonly onBytes?: (bytes: number) => void
}

export interface TransportOptions {
  readonly access: ClusterAccess
  readonly userAgent?: string
  readonly clock?: Clock
  readonly random?: Random
  readonly deadlineMs?: number
  /** Time limit for one attempt, up to the last byte of its answer. */
  readonly attemptMs?: number
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  readonly maxBodyBytes?: number
}

/** Counters since the start, for metrics. */
export interface TransportCounters {
  readonly attempts: number
  readonly retries: number
  /** 429 answers. */
  readonly throttled: number
}

/** Sends requests to one API server, as JSON over HTTPS. */
export class Transport {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #random: Random
  readonly #deadlineMs: number
  readonly #attemptMs: number
  readonly #firstRetryMs: number
  readonly #maxRetryMs: number
  readonly #maxBodyBytes: number
  readonly #counters = { attempts: 0, retries: 0, throttled: 0 }

  constructor(options: TransportOptions) {
    this.#connection = new Connection(options.access, options.userAgent ?? 'spout')
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#deadlineMs = options.deadlineMs ?? 60_000
    this.#attemptMs = options.attemptMs ?? 30_000
    this.#firstRetryMs = options.firstRetryMs ?? 100
    this.#maxRetryMs = options.maxRetryMs ?? 5_000
    this.#maxBodyBytes = options.maxBodyBytes ?? 64 * 1024 * 1024
  }

  get counters(): TransportCounters {
    return this.#counters
  }

  /**
   * Sends a request, and repeats it until it is answered or the deadline is near. After a 429 any method is repeated,
   * because the server did nothing. After a 5xx or a broken connection only an idempotent request is repeated.
   *
   * @throws KubeError the server's refusal; KubeUnreachable when there was no answer
   */
  async request<T>(request: KubeRequest): Promise<T> {
    const what = `${request.method} ${request.path}`
    const endsAt = this.#clock.monotonicMs() + (request.deadlineMs ?? this.#deadlineMs)
    const idempotent = request.idempotent ?? request.method !== 'POST'
    const backoff = new Backoff({ firstMs: this.#firstRetryMs, mostMs: this.#maxRetryMs, random: this.#random })
    let renewed = false
    for (;;) {
      const leftMs = endsAt - this.#clock.monotonicMs()
      if (leftMs <= 0) throw new KubeUnreachable(what, 'deadline', 'no attempt got an answer in time')
      try {
        return (await this.#attempt(request, what, Math.min(leftMs, this.#attemptMs))) as T
      } catch (error) {
        if (error instanceof KubeError && error.status === 429) this.#counters.throttled++
        if (request.retry === false) throw error
        if (error instanceof KubeError && error.status === 401 && !renewed && this.#connection.forgetToken()) {
          renewed = true
          continue
        }
        if (!worthAnother(error, idempotent)) throw error
        const pauseMs = backoff.next(error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0)
        if (this.#clock.monotonicMs() + pauseMs >= endsAt) throw error
        this.#counters.retries++
        await pause(this.#clock, pauseMs, request.signal)
        if (request.signal?.aborted) throw new KubeUnreachable(what, 'aborted', '')
      }
    }
  }

  /**
   * Yields the lines of a stream, grouped as they arrived. Ends when the server ends the stream properly; an incomplete
   * last line is dropped. Makes one attempt.
   *
   * @throws KubeError the server's refusal; KubeUnreachable when it breaks or falls silent
   */
  async *lines(request: StreamRequest): AsyncGenerator<readonly string[]> {
    const what = `GET ${request.path}`
    const { controller, release } = linked(request.signal)
    const arm = (ms: number) =>
      this.#clock.setTimer(() => controller.abort(new KubeUnreachable(what, 'silent', `no byte for ${ms} ms`)), ms)
    let timer = arm(Math.min(request.silenceMs, this.#attemptMs))
    const rearm = (ms: number) => {
      timer.clear()
      timer = arm(ms)
    }
    this.#counters.attempts++
    try {
      const response = await this.#connection.send({
        method: 'GET',
        path: request.path + queryText(request.query),
        body: null,
        contentType: '',
        signal: controller.signal,
      })
      if (response.statusCode !== 200) throw await this.#refusal(what, response)
      // From here on the longer limit applies: without events, the first byte of the body may be minutes away.
      rearm(request.silenceMs)
      request.onOpen?.()
      const splitter = new LineSplitter()
      for await (const chunk of response) {
        rearm(request.silenceMs)
        request.onBytes?.((chunk as Buffer).length)
        const lines = linesOf(what, splitter, chunk as Buffer)
        if (lines.length > 0) yield lines
      }
    } catch (error) {
      if (error instanceof KubeError) {
        if (error.status === 429) this.#counters.throttled++
        throw error
      }
      throw unreachable(what, error, controller.signal)
    } finally {
      timer.clear()
      release()
      // When the reader stops early, this releases the connection.
      controller.abort()
    }
  }

  /** Closes idle connections. Requests under way go on until their signal. */
  close(): void {
    this.#connection.close()
  }

  async #attempt(request: KubeRequest, what: string, timeoutMs: number): Promise<unknown> {
    const { controller, release } = linked(request.signal)
    const timer = this.#clock.setTimer(
      () => controller.abort(new KubeUnreachable(what, 'deadline', `no answer for ${Math.round(timeoutMs)} ms`)),
      timeoutMs,
    )
    this.#counters.attempts++
    try {
      const response = await this.#connection.send({
        method: request.method,
        path: request.path + queryText(request.query),
        body: request.body === undefined ? null : Buffer.from(JSON.stringify(request.body)),
        contentType: request.contentType ?? 'application/json',
        signal: controller.signal,
      })
      const status = response.statusCode ?? 0
      if (status < 200 || status > 299) throw await this.#refusal(what, response)
      if (request.read === false) {
        for await (const _ of response);
        return null
      }
      const text = await textOf(what, response, {
        mostBytes: request.maxBodyBytes ?? this.#maxBodyBytes,
        ...(request.onBytes && { onBytes: request.onBytes }),
      })
      return parseJson(what, text)
    } catch (error) {
      throw error instanceof KubeError ? error : unreachable(what, error, controller.signal)
    } finally {
      timer.clear()
      release()
    }
  }

  async #refusal(what: string, response: IncomingMessage): Promise<KubeError> {
    const status = response.statusCode ?? 0
    const text = await textOf(what, response, { mostBytes: this.#maxBodyBytes })
    return new KubeError(what, status, statusOf(text), retryAfterMs(response.headers['retry-after']))
  }
}

/** A controller that aborts with the caller's signal and can be detached from it. */
function linked(signal: AbortSignal | undefined): { controller: AbortController; release: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return { controller, release: () => signal?.removeEventListener('abort', abort) }
}

function worthAnother(error: unknown, idempotent: boolean): boolean {
  if (error instanceof KubeError) return error.status === 429 || (idempotent && error.status >= 500)
  if (!(error instanceof KubeUnreachable) || !idempotent) return false
  return error.reason === 'connection' || error.reason === 'deadline' || error.reason === 'malformed'
}

function queryText(query: KubeRequest['query']): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) pairs.set(name, String(value))
  return pairs.size === 0 ? '' : `?${pairs}`
}

async function textOf(what: string, response: IncomingMessage, limits: BodyLimits): Promise<string> {
  try {
    return await bodyText(response, limits)
  } catch (error) {
    throw error instanceof BodyTooLong ? new KubeUnreachable(what, 'too-large', error.message) : error
  }
}

function linesOf(what: string, splitter: LineSplitter, chunk: Buffer): readonly string[] {
  try {
    return splitter.push(chunk).filter((line) => line !== '')
  } catch (error) {
    throw new KubeUnreachable(what, 'too-large', (error as Error).message)
  }
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the parser's message, which quotes the text.
    throw new KubeUnreachable(what, 'malformed', `${text.length} characters that are not JSON`)
  }
}

function statusOf(text: string): Status | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
      ? (body as Status)
      : null
  } catch {
    return null
  }
}

/** Parses Retry-After (RFC 9110 section 10.2.3) in seconds; the API server sends no dates. */
function retryAfterMs(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : null
}
