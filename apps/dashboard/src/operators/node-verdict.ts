import type { ShownNode } from '../api/nodes.ts'
import { DRAINED, drainProgress } from './drain-progress.ts'

/** `bad`: it does not do its work. `warn`: something keeps it from all of it, or somebody took it out of use. */
export type Level = 'ok' | 'warn' | 'bad'

export interface NodeVerdict {
  readonly level: Level
  readonly text: string
}

/** How a node is, in a few words; the worst first. */
export function nodeVerdict(node: Pick<ShownNode, 'status' | 'scheduling' | 'drainBegunAt'>): NodeVerdict {
  const { status, scheduling } = node
  const { connection, inSync, problems } = status
  if (connection === 'disconnected') return { level: 'bad', text: 'not connected' }
  if (connection === 'never') return { level: 'warn', text: 'never seen' }
  if (problems.length > 0)
    return { level: 'bad', text: problems.length === 1 ? '1 problem' : `${problems.length} problems` }
  if (scheduling !== 'enabled') return { level: 'warn', text: drainProgress(node) === DRAINED ? DRAINED : scheduling }
  return inSync ? { level: 'ok', text: 'ready' } : { level: 'warn', text: 'catching up' }
}
