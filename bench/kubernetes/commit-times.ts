import type { Kubernetes, KubernetesApi } from '@spout/testkit'

type Object = Kubernetes.KubernetesObject

/** When changes of a collection's objects reached an ordinary watch. */
export class CommitTimes implements Disposable {
  readonly #stop = new AbortController()
  readonly #timesNs = new Map<string, bigint>()
  readonly #waiting = new Map<string, (timeNs: bigint) => void>()

  static async watch(api: KubernetesApi, path: string): Promise<CommitTimes> {
    const times = new CommitTimes()
    const { metadata } = await api.list<Object>(path)
    void times.#follow(api, path, metadata.resourceVersion)
    return times
  }

  /** Time of this version of an object, on CLOCK_MONOTONIC. */
  of({ metadata: { resourceVersion = '' } }: Object): Promise<bigint> {
    const known = this.#timesNs.get(resourceVersion)
    if (known !== undefined) return Promise.resolve(known)
    const { promise, resolve, reject } = Promise.withResolvers<bigint>()
    this.#waiting.set(resourceVersion, resolve)
    AbortSignal.timeout(5000).addEventListener('abort', () => reject(new Error(`${resourceVersion} was never told`)))
    return promise
  }

  async #follow(api: KubernetesApi, path: string, from: string): Promise<void> {
    try {
      for await (const { object } of api.watch<Object>(path, from, this.#stop.signal)) {
        const version = object.metadata.resourceVersion ?? ''
        const nowNs = process.hrtime.bigint()
        this.#timesNs.set(version, nowNs)
        this.#waiting.get(version)?.(nowNs)
      }
    } catch {
      // Ended by us, or broken: waiters for a version are told that it never came.
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }
}
