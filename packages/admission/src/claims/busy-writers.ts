import { type Clock, RecentPeaks, systemClock } from '@spout/runtime'

/**
 * Decides whose commits yield: those of a project that has more changes under way at once than another project that
 * writes, too. So a client that changes one thing after the other seldom waits for a flush of a busy project.
 */
export class BusyWriters {
  readonly #peaks: RecentPeaks
  readonly #underWay = new Map<string, number>()

  constructor(clock: Clock = systemClock) {
    this.#peaks = new RecentPeaks(clock)
  }

  /**
   * A change of the project begins.
   * @param projectId empty: the system's own writes, which count for nobody
   * @returns to be called when it is over
   */
  begin(projectId: string): () => void {
    if (projectId === '') return () => {}
    const count = 1 + (this.#underWay.get(projectId) ?? 0)
    this.#underWay.set(projectId, count)
    this.#peaks.note(projectId, count)
    return () => {
      const left = (this.#underWay.get(projectId) ?? 1) - 1
      if (left > 0) this.#underWay.set(projectId, left)
      else this.#underWay.delete(projectId)
    }
  }

  /** Whether another project that writes, or did a moment ago, has fewer changes at once. */
  yields(projectId: string): boolean {
    return this.#peaks.isAboveAnother(projectId)
  }
}
