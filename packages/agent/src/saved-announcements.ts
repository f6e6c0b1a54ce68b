import type { Announcement } from '@spout/dataplane'
import { announcementsOf } from './entry-announcements.ts'
import { StateFile } from './state-file.ts'
import { unreadable } from './wanted-state.ts'

/**
 * The addresses that an earlier agent announced on the fabric, or was ready to, by its state file.
 * @throws Error if a newer agent wrote the file
 */
export async function savedAnnouncements(stateFile: string): Promise<readonly Announcement[]> {
  // A file that cannot be written tells the agent itself, which opens it next.
  const state = new StateFile(stateFile, () => {})
  await state.load()
  const saved = [...state.entries.values()]
  await state.close()
  return saved.flatMap(({ entry, down }) =>
    entry.kind === 'load-balancer' && unreadable(entry) === null
      ? announcementsOf(entry, down).filter(({ scope }) => scope === 'fabric')
      : [],
  )
}
