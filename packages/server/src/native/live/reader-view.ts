import type { Principal } from '@spout/admission/contract'
import { isAdmin } from '../../authn/access.ts'

/** What a page follows. */
export interface Topics {
  /** Rows of all load balancers that it may see. */
  readonly rows: boolean
  /** Ids of load balancers that it shows wholly. */
  readonly open: readonly string[]
  readonly objects: boolean
  readonly nodes: boolean
}

/** What one reader may see and asked for. */
export interface ReaderView {
  readonly principal: Principal
  readonly topics: Topics
}

/** Equal for readers that get the same events, whose texts are made once. */
export const viewKey = ({ principal, topics }: ReaderView): string =>
  JSON.stringify([
    isAdmin(principal) ? true : principal.projectId,
    ...[topics.rows, topics.objects, topics.nodes],
    ...topics.open,
  ])
