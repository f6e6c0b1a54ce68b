import { share } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import type { AnsweredLoadBalancer } from './native-bodies.ts'

/**
 * Documents in the answers to our calls. Documents from the watch are built from the same objects. So a document is not
 * kept twice, and equal routes are the same object, which saves comparing them in depth.
 */
export class AnsweredDocuments {
  /** Created load balancers that the watch has not shown yet; null until the call is answered. */
  readonly #made = new Map<string, LoadBalancer | null>()
  /** Documents with routes, as the last call returned them. */
  readonly #changed = new Map<string, LoadBalancer>()

  /** The load balancer is about to be created. */
  begin(id: string): void {
    this.#made.set(id, null)
  }

  made(document: LoadBalancer): void {
    if (this.#made.has(document.id)) this.#made.set(document.id, document)
  }

  changed(document: LoadBalancer): void {
    if (document.listeners.some(({ routes = [] }) => routes.length > 0)) this.#changed.set(document.id, document)
    else this.#changed.delete(document.id)
  }

  /** The load balancer was not created, or is gone. */
  forget(id: string): void {
    this.#made.delete(id)
    this.#changed.delete(id)
  }

  /** The document that the watch shows, built from the objects of earlier answers. */
  likeAnswered({ status, ...document }: AnsweredLoadBalancer): AnsweredLoadBalancer {
    const answered = this.#changed.get(document.id) ?? this.#made.get(document.id) ?? null
    this.#made.delete(document.id)
    return { ...(answered === null ? document : share<LoadBalancer>(answered, document)), status }
  }
}
