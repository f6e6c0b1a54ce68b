import { readdirSync, rmdirSync } from 'node:fs'
import path from 'node:path'

const ROOT = '/sys/fs/cgroup'

/** Removes the empty control groups whose name begins so, in every hierarchy (v1 has one a controller). */
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

/** Control groups hold files that cannot be deleted: only directories go, innermost first. */
function removeTree(group: string): void {
  for (const inner of directoriesIn(group)) removeTree(inner)
  try {
    rmdirSync(group)
  } catch {
    // Still holds a process: whoever ends that finds the group again by its name.
  }
}
