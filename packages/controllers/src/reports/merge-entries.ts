import { type EntryReport, loadBalancerOfKey, type NodeReport } from '@spout/model'
import type { NodeView } from './node-view.ts'
import type { AnnouncedDifference } from './report-difference.ts'

/**
 * Merges the reports of entries.
 * @param announced entries whose announced addresses changed are added to it
 * @returns keys of entries whose report changed or was removed
 */
export function mergeEntries(
  node: NodeView,
  report: NodeReport,
  announced: AnnouncedDifference[],
): ReadonlySet<string> {
  const keys = new Set<string>()
  const note = (key: string, before: readonly string[], after: readonly string[]) => {
    if (before.join() !== after.join()) announced.push({ key, before, after })
  }
  for (const entry of report.entries) {
    node.stale.delete(entry.key)
    const before = node.entries.get(entry.key)
    if (sameEntry(before, entry)) continue
    node.entries.set(entry.key, entry)
    note(entry.key, before?.announced ?? [], entry.announced)
    keys.add(entry.key)
  }
  const gone = report.inSync && node.stale.size > 0 ? [...report.removed, ...node.stale] : report.removed
  if (report.inSync) node.stale.clear()
  for (const key of gone) {
    const loadBalancerId = loadBalancerOfKey(key)
    if (loadBalancerId !== null) node.members.delete(loadBalancerId)
    const before = node.entries.get(key)
    if (before === undefined) continue
    node.entries.delete(key)
    note(key, before.announced, [])
    keys.add(key)
  }
  return keys
}

const sameEntry = (a: EntryReport | undefined, b: EntryReport): boolean =>
  a !== undefined &&
  a.hash === b.hash &&
  a.state === b.state &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.announced.join() === b.announced.join()
