import { editsBetween, type LoadBalancer, type LoadBalancerSummary, type StatusReader } from '@spout/model'
import type { Revision } from '@spout/store'

/** One watch's lines about load balancers: the first about one is whole, then what makes it of the one told last. */
export class BriefLines {
  readonly #status: Pick<StatusReader, 'summary'>
  /** Shares all but its own fields with the view. */
  readonly #told = new Map<string, LoadBalancer & { readonly status: LoadBalancerSummary }>()

  constructor(status: Pick<StatusReader, 'summary'>) {
    this.#status = status
  }

  of(document: LoadBalancer, type: 'ADDED' | 'MODIFIED', revision?: Revision): object | null {
    const { id } = document
    const before = this.#told.get(id)
    const object = { ...document, status: this.#status.summary(id) }
    this.#told.set(id, object)
    const edits = before === undefined ? null : editsBetween(before, object)
    const at = revision === undefined ? {} : { revision }
    if (edits === null) return { type, object, ...at }
    // A change that was told of already, with one that came before its turn.
    return edits.length === 0 ? null : { type: 'CHANGED', object: { id }, edits, ...at }
  }

  forget(id: string): void {
    this.#told.delete(id)
  }
}
