import { SpoutError } from '@spout/model'

export interface StreamLimits {
  /** Limit of open watches of one project. */
  readonly mostOfProject: number
  /** Limit of bytes buffered for the readers of one project. */
  readonly mostBytesOfProject: number
}

/** One open watch and the bytes it buffers. */
export interface OpenStream {
  /** Counts bytes that were sent to the reader. */
  sent(bytes: number): void
  /**
   * Sets how many bytes are buffered. @returns false when the project has too many: then this reader must be cut off
   */
  holds(bytes: number): boolean
  close(): void
}

export interface OpenStreamsOptions extends StreamLimits {
  /** Charges sent bytes to the project's share, because a stream is one request however long it is open. */
  readonly onSent?: (project: string, bytes: number) => void
  /**
   * Rejects with the error when a refusal is due (`RequestShares.refuse`). Default: at once. A client that ignores
   * `Retry-After` would otherwise ask again as fast as it is refused.
   */
  readonly refuse?: (error: SpoutError) => Promise<never>
}

/** Counts each project's watches, and the bytes buffered for slow readers. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions
  readonly #projects = new Map<string, Map<OpenStream, number>>()

  constructor(options: OpenStreamsOptions) {
    this.#options = options
  }

  /** @throws SpoutError TooManyRequests */
  async open(project: string): Promise<OpenStream> {
    const { mostOfProject, mostBytesOfProject, onSent, refuse } = this.#options
    const streams = this.#projects.get(project) ?? new Map<OpenStream, number>()
    if (streams.size >= mostOfProject) {
      const reason = `${mostOfProject} watches of this project are open`
      const refusal = new SpoutError('TooManyRequests', { reason, seconds: 5 })
      await refuse?.(refusal)
      throw refusal
    }
    this.#projects.set(project, streams)
    const stream: OpenStream = {
      sent: (bytes) => onSent?.(project, bytes),
      holds: (bytes) => {
        if (!streams.has(stream)) return false
        streams.set(stream, bytes)
        return [...streams.values()].reduce((sum, each) => sum + each, 0) <= mostBytesOfProject
      },
      close: () => {
        streams.delete(stream)
        if (streams.size === 0 && this.#projects.get(project) === streams) this.#projects.delete(project)
      },
    }
    streams.set(stream, 0)
    return stream
  }
}
