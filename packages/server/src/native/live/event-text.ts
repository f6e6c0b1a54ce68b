import type { ModelView, Principal } from '@spout/admission/contract'
import type { Kind } from '@spout/model'
import { isAdmin, mayKnow } from '../../authn/access.ts'
import type { Changes } from './changes.ts'
import type { LoadBalancerRows } from './load-balancer-rows.ts'
import type { ReaderView } from './reader-view.ts'

/** The id by which the caller knows an object; null if the caller may not know of it. */
export type PublicId = (principal: Principal, kind: Kind, id: string) => string | null

export interface EventSource {
  readonly view: Pick<ModelView, 'get'>
  readonly rows: LoadBalancerRows
  readonly publicId: PublicId
}

/** One event of a stream of server-sent events. @param data JSON, which has no line breaks */
export const eventText = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`

/** The events that a reader gets of these changes; empty for none. Objects are shown as they are now. */
export function eventsText(changes: Changes, reader: ReaderView, source: EventSource): string {
  const { topics } = reader
  let text = loadBalancerEvents(changes, reader, source)
  if (topics.nodes) for (const id of changes.nodes) text += event('node', { id })
  if (topics.objects) text += objectEvents(changes, reader, source)
  return text
}

const event = (name: string, data: object): string => eventText(name, JSON.stringify(data))

function loadBalancerEvents(
  { loadBalancers, rates, gone }: Changes,
  { principal, topics: { rows: wantsRows, open } }: ReaderView,
  { view, rows }: EventSource,
): string {
  let text = ''
  const visible = (id: string) => {
    const found = view.get('loadBalancer', id)
    return found !== null && mayKnow(principal, found.value.projectId) ? found : null
  }
  if (wantsRows)
    for (const id of loadBalancers.union(rates)) {
      const found = visible(id)
      if (found !== null) text += eventText('row', rows.of(found.value).text)
    }
  for (const id of open) {
    const found = loadBalancers.has(id) ? visible(id) : null
    if (found !== null) text += event('load-balancer', { id, revision: found.revision })
  }
  for (const [id, project] of gone) {
    // One with the same id may have been created since.
    const isGone = view.get('loadBalancer', id) === null && mayKnow(principal, project ?? null)
    if (isGone && (wantsRows || open.includes(id))) text += event('gone', { id })
  }
  return text
}

function objectEvents(changes: Changes, { principal }: ReaderView, { view, publicId }: EventSource): string {
  let text = ''
  for (const { kind, id, goneFrom } of changes.others.values()) {
    if (view.get(kind, id) === null) {
      if (isAdmin(principal) || (goneFrom !== undefined && goneFrom === principal.projectId))
        text += event('object', { kind, id: null })
      continue
    }
    const known = publicId(principal, kind, id)
    if (known !== null) text += event('object', { kind, id: known })
  }
  return text
}
