import { SpoutError } from '@spout/model'

export interface StreamLimits {
  /** Watches that one project may have open at a time. */
  readonly mostOfProject: number
  /** Bytes that wait for the readers of one project. */
  readonly mostBytesOfProject: number
}

/** One open watch: what it holds for its reader. */
export interface OpenStream {
  /** So much was told to the reader. */
  told(bytes: number): void
  /** How much waits for the reader now. @returns false when its project has too much waiting: this reader is to be cut off */
  holds(bytes: number): boolean
  close(): void
}

/** Watches of each project, and what waits in them for readers that are slow. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #onTold: (project: string, bytes: number) => void
  readonly #projects = new Map<string, Map<OpenStream, number>>()

  /** @param onTold what is told of a project's share: a stream is answered for as long as it is open */
  constructor(limits: StreamLimits, onTold: (project: string, bytes: number) => void = () => {}) {
    this.#limits = limits
    this.#onTold = onTold
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
      told: (bytes) => this.#onTold(project, bytes),
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
