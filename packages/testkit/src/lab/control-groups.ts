import { readdirSync, rmdirSync } from 'node:fs'
import path from 'node:path'

const ROOT = '/sys/fs/cgroup'

/** Removes empty control groups with this name prefix, in every hierarchy (v1 has one per controller). */
export function removeControlGroups(prefix: string): void {
  for (const hierarchy of [ROOT, ...directoriesIn(ROOT)])
    for (const group of directoriesIn(hierarchy)) if (path.basename(group).startsWith(prefix)) removeTree(group)
}

function directoriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(directory, entry.name))
  } catch {
    return []
  }
}

/** The files of control groups cannot be deleted: only directories are, innermost first. */
function removeTree(group: string): void {
  for (const inner of directoriesIn(group)) removeTree(inner)
  try {
    rmdirSync(group)
  } catch {
    // It still has a process: whoever ends that finds the group again by its name.
  }
}
