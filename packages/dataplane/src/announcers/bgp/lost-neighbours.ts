import type { BgpSession } from './bgp-session.ts'

/** A session when BFD first saw its neighbour. */
interface Seen {
  readonly session: string
  readonly bfd: string
  /** BFD had lost the neighbour at the last call. */
  readonly suspect: boolean
}

/**
 * Finds sessions that outlived their neighbour: BFD has lost it since the session came up. The router has ended the
 * session and could not tell us. Until we end it too, we refuse the router when it comes back.
 *
 * A session that the router can replace is left alone, since we do not refuse that router. The router may have kept
 * the session while BFD lost it for a moment. To end it then would withdraw a healthy node.
 */
export class LostNeighbours {
  readonly #seen = new Map<string, Seen>()

  /**
   * A router that still reaches us ends the session itself. So only a session that still exists at the next call has
   * outlived its neighbour.
   * @returns ids of such peers, once for each session
   */
  find(sessions: readonly BgpSession[]): readonly string[] {
    return sessions.flatMap(({ peerId, state, since, bfd, bfdSince, replaceable }) => {
      const before = this.#seen.get(peerId)
      if (state !== 'established' || bfdSince === null || replaceable) {
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
