import { type Kubernetes, type KubernetesApi, type KubernetesList, waitFor } from '@spout/testkit'

interface Seen<T> {
  /** By `performance.now()`. */
  readonly atMs: number
  readonly object: T
}

/** Records when the API server reported each change of a collection, from `start` on. */
export class Moments<T extends Kubernetes.KubernetesObject> implements Disposable {
  readonly #seen: Seen<T>[] = []
  readonly #stopping = new AbortController()

  static async start<T extends Kubernetes.KubernetesObject>(api: KubernetesApi, path: string): Promise<Moments<T>> {
    const { metadata } = await api.list<T>(path)
    const moments = new Moments<T>()
    void moments.#follow(api, path, metadata)
    return moments
  }

  async #follow(api: KubernetesApi, path: string, { resourceVersion }: KubernetesList<T>['metadata']): Promise<void> {
    try {
      for await (const { object } of api.watch<T>(path, resourceVersion, this.#stopping.signal))
        this.#seen.push({ atMs: performance.now(), object })
    } catch {
      // The watch is lost: `when` then fails at its deadline.
    }
  }

  /** The first time that a matching object was reported. @throws Error when none comes */
  async when(what: string, holds: (object: T) => boolean): Promise<number> {
    const found = await waitFor(() => this.#seen.find(({ object }) => holds(object)), {
      ...{ what, everyMs: 5 },
      timeoutMs: 60_000,
    })
    return found.atMs
  }

  [Symbol.dispose](): void {
    this.#stopping.abort()
  }
}
