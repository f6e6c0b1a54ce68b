import type { AnnouncerRegistry } from '../announcers/announcer-registry.ts'
import type { Announcement } from '../contracts/announcer.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { run } from '../domain/run.ts'
import { removeSteering } from '../domain/steering-rules.ts'

export interface LeavingFabric {
  /** The node as it was, with the interface that it leaves. */
  readonly config: DomainConfig
  /** Of that interface, not used before. They are closed in the end. */
  readonly announcers: AnnouncerRegistry
  /** What an earlier agent announced there. */
  readonly announced: readonly Announcement[]
}

/**
 * Leaves a fabric interface: other nodes and routers are told first, then addresses and rules go. Daemons that announce
 * there end. What is carried in the domains stays. Idempotent, and the interface may be gone.
 * @throws Error if something of it may still be announced
 */
export async function leaveFabric({ config, announcers, announced }: LeavingFabric): Promise<void> {
  const { signal } = new AbortController()
  try {
    await announcers.adopt(announced)
    await announcers.follow(null, signal)
    await announcers.apply([], signal)
  } finally {
    await announcers.close()
  }
  await removeSteering(run, config)
}
