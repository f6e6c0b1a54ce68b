import type { BgpSession } from './bgp-session.ts'

/** Sessions as they were when BFD first saw their neighbour. */
interface Seen {
  readonly session: string
  readonly bfd: string
  /** BFD lost the neighbour at the last look. */
  readonly suspect: boolean
}

/**
 * Finds sessions that outlived their neighbour: BFD lost it since the session came up. The router has ended the session
 * then, and could not tell us; until we end it too, it is refused when it comes back.
 */
export class LostNeighbours {
  readonly #seen = new Map<string, Seen>()

  /**
   * A router that still reaches us ends the session itself: only one that is there at the next look too has outlived it.
   * @returns ids of such peers, each once a session
   */
  find(sessions: readonly BgpSession[]): readonly string[] {
    return sessions.flatMap(({ peerId, state, since, bfd, bfdSince }) => {
      const before = this.#seen.get(peerId)
      if (state !== 'established' || bfdSince === null) {
        this.#seen.delete(peerId)
        return []
      }
      if (before?.session === since) {
        if (before.bfd === bfdSince && !before.suspect) return []
        if (!before.suspect) this.#seen.set(peerId, { ...before, suspect: true })
        else this.#seen.delete(peerId)
        return before.suspect ? [peerId] : []
      }
      if (bfd === 'up') this.#seen.set(peerId, { session: since, bfd: bfdSince, suspect: false })
      else this.#seen.delete(peerId)
      return []
    })
  }
}
