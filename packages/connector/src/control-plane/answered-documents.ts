import { share } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import type { AnsweredLoadBalancer } from './native-bodies.ts'

/**
 * Keeps documents from the answers to our calls. The document that the watch then shows reuses their parts: so it is
 * not held in memory twice, and equal routes are the same objects, which need no deep comparison.
 */
export class AnsweredDocuments {
  /** Load balancers in creation that the watch has not shown yet, by id; null until the call is answered. */
  readonly #made = new Map<string, LoadBalancer | null>()
  /** Documents with routes, as the last call returned them, by id. */
  readonly #changed = new Map<string, LoadBalancer>()

  /** Called when a load balancer is about to be created. */
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

  /** Called when the load balancer was not created, or is gone. */
  forget(id: string): void {
    this.#made.delete(id)
    this.#changed.delete(id)
  }

  /** The document that the watch shows, built from parts of earlier answers where they are equal. */
  likeAnswered({ status, ...document }: AnsweredLoadBalancer): AnsweredLoadBalancer {
    const answered = this.#changed.get(document.id) ?? this.#made.get(document.id) ?? null
    this.#made.delete(document.id)
    return { ...(answered === null ? document : share<LoadBalancer>(answered, document)), status }
  }
}
