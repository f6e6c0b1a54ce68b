import type { NodeReport } from '@spout/model'
import { NOTHING_REPORTED, type NodeView, SELF_FIELDS } from './node-view.ts'

/**
 * Merges the report on the node itself. What a restarted agent has not reported when it is in sync does not exist any
 * more.
 */
export function mergeNode(node: NodeView, report: NodeReport): void {
  for (const field of SELF_FIELDS) {
    const reported = report[field]
    if (reported === undefined && !(report.inSync && node.staleFields.has(field))) continue
    Object.assign(node, { [field]: reported === undefined ? NOTHING_REPORTED[field] : reported })
    node.staleFields.delete(field)
  }
  if (report.version !== undefined) node.version = report.version
  if (report.fabricAddress !== undefined) {
    node.fabricAddress = report.fabricAddress
    node.lacksFabricAddress = report.fabricAddress === null
  }
}
