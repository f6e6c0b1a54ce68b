import type { Principal } from '@spout/admission/contract'
import { SpoutError, uuid } from '@spout/model'
import { requireRole } from '../../authn/access.ts'
import type { Topics } from '../live/reader-view.ts'

const DEFAULT_TOPICS = 'load-balancers'
const ONE = 'load-balancer:'
/** How many load balancers one stream follows wholly. */
export const MOST_OPEN = 8

/**
 * The topics of a stream.
 * @param text separated by commas; null: the default
 * @throws SpoutError InvalidField; Forbidden for a topic of administrators
 */
export function topicsOf(text: string | null, principal: Principal): Topics {
  const names = new Set((text ?? DEFAULT_TOPICS).split(',').map((name) => name.trim()))
  const open: string[] = []
  for (const name of names) {
    if (name === 'nodes') requireRole(principal, 'admin')
    else if (name.startsWith(ONE)) open.push(idIn(name))
    else if (name !== DEFAULT_TOPICS && name !== 'objects') throw invalid('has an unknown topic')
  }
  if (open.length > MOST_OPEN) throw invalid(`names more than ${MOST_OPEN} load balancers`)
  return {
    rows: names.has(DEFAULT_TOPICS),
    objects: names.has('objects'),
    nodes: names.has('nodes'),
    open: open.sort(),
  }
}

function idIn(topic: string): string {
  const id = topic.slice(ONE.length)
  if (!uuid.safeParse(id).success) throw invalid('names a load balancer by something that is not a UUID')
  return id
}

const invalid = (reason: string) => new SpoutError('InvalidField', { field: 'topics', reason })
