import { editsBetween, type LoadBalancer, type LoadBalancerSummary, type StatusReader } from '@spout/model'
import type { Revision } from '@spout/store'

/**
 * The lines of one brief watch about load balancers. The first line about each is whole; later ones are edits of the
 * previous one.
 */
export class BriefLines {
  readonly #status: Pick<StatusReader, 'summary'>
  /** Objects as last sent. They share all but their own fields with the view. */
  readonly #sent = new Map<string, LoadBalancer & { readonly status: LoadBalancerSummary }>()

  constructor(status: Pick<StatusReader, 'summary'>) {
    this.#status = status
  }

  of(document: LoadBalancer, type: 'ADDED' | 'MODIFIED', revision?: Revision): object | null {
    const { id } = document
    const before = this.#sent.get(id)
    const object = { ...document, status: this.#status.summary(id) }
    this.#sent.set(id, object)
    const edits = before === undefined ? null : editsBetween(before, object)
    const at = revision === undefined ? {} : { revision }
    if (edits === null) return { type, object, ...at }
    // An earlier line already contained this change.
    return edits.length === 0 ? null : { type: 'CHANGED', object: { id }, edits, ...at }
  }

  forget(id: string): void {
    this.#sent.delete(id)
  }
}
