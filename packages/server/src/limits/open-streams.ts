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

/** Counts each project's watches, and the bytes buffered for slow readers. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #onSent: (project: string, bytes: number) => void
  readonly #projects = new Map<string, Map<OpenStream, number>>()

  /**
   * @param onSent charges sent bytes to the project's share, because a stream is one request however long it is open
   */
  constructor(limits: StreamLimits, onSent: (project: string, bytes: number) => void = () => {}) {
    this.#limits = limits
    this.#onSent = onSent
  }

  /** @throws SpoutError TooManyRequests */
  open(project: string): OpenStream {
    const { mostOfProject, mostBytesOfProject } = this.#limits
    const streams = this.#projects.get(project) ?? new Map<OpenStream, number>()
    if (streams.size >= mostOfProject)
      throw new SpoutError('TooManyRequests', {
        reason: `${mostOfProject} watches of this project are open`,
        seconds: 5,
      })
    this.#projects.set(project, streams)
    const stream: OpenStream = {
      sent: (bytes) => this.#onSent(project, bytes),
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
