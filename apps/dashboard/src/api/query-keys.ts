import type { Kind } from '@spout/model'

/**
 * Keys of what the page has read. The first element is the kind of the model, so a changed object of a kind makes
 * everything old that was read of it (`src/live/`).
 */
export const keys = {
  session: ['session'],
  loginWays: ['login-ways'],
  of: (kind: Kind, ...more: readonly string[]) => [kind, ...more],
  /** The table of load balancers, whose rows are kept by name. @param projectId null: all that the reader may see */
  rows: (projectId: string | null) => ['rows', projectId],
  loadBalancer: (id: string) => ['loadBalancer', id, 'document'],
  /** What its deletion would release. */
  deletion: (id: string) => ['loadBalancer', id, 'deletion'],
  explanation: (id: string) => ['loadBalancer', id, 'explanation'],
  figures: (id: string, span: string) => ['loadBalancer', id, 'figures', span],
  /** Not below `node`: what a node says of itself changes all the time, and figures are read now and then. */
  nodeFigures: (id: string, span: string) => ['node-figures', id, span],
  /** Nor is this: it is read when somebody asks. What the drain of a node would do. */
  drain: (id: string) => ['node-drain', id],
  memberHistory: (id: string) => ['loadBalancer', id, 'member-history'],
  changes: (objectId: string) => ['loadBalancer', objectId, 'changes'],
  problems: ['problems'],
} as const
