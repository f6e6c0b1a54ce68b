import { type KubernetesApi, KubernetesApiError } from '../api.ts'
import type { Pod } from '../objects.ts'
import { sleep } from './pause.ts'
import { type PodState, podStatus } from './pod-status.ts'

const RETRY_MS = 200

/** The object of a pod at the API server, as its kubelet writes it: its status, and its end. */
export class PodObject {
  readonly #api: KubernetesApi
  readonly #ended: AbortSignal
  readonly #written: () => void
  #published = ''
  #publishing: Promise<void> | null = null
  #isGone = false

  /**
   * @param ended ends the pause after a write that failed
   * @param written called after each write
   */
  constructor(api: KubernetesApi, ended: AbortSignal, written: () => void) {
    this.#api = api
    this.#ended = ended
    this.#written = written
  }

  /** Whether somebody else removed it. */
  get isGone(): boolean {
    return this.#isGone
  }

  vanish(): void {
    this.#isGone = true
  }

  /** Writes the status in the background when its meaning has changed; the newest wins. */
  publish(pod: Pod, state: () => PodState): void {
    if (this.#publishing !== null || this.#isGone) return
    const status = podStatus(pod, state(), new Date().toISOString())
    const meaning = JSON.stringify(status, (key, value) => (key === 'lastTransitionTime' ? undefined : value))
    if (meaning === this.#published) return
    this.#publishing = this.#api
      .patchByKey(`${pathOf(pod)}/status`, { metadata: { uid: pod.metadata.uid }, status })
      .then(() => {
        this.#published = meaning
      })
      .catch(() => sleep(RETRY_MS, this.#ended))
      .finally(() => {
        this.#publishing = null
        this.#written()
      })
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    await this.#publishing
  }

  /** Repeats the deletion at the API server until it succeeds, or somebody else removed it. */
  async remove(pod: Pod): Promise<void> {
    const body = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } }
    while (!this.#isGone) {
      try {
        await this.#api.delete(pathOf(pod), body)
        return
      } catch (error) {
        if (error instanceof KubernetesApiError && (error.status === 404 || error.status === 409)) return
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}

const pathOf = ({ metadata: { namespace, name } }: Pod): string => `/api/v1/namespaces/${namespace}/pods/${name}`
