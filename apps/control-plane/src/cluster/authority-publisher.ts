import { CONFIG_MAPS, KubeClient, type Transport } from '@spout/kube'
import { type Clock, type Component, type Logger, retry } from '@spout/runtime'

export interface AuthorityPublisherOptions {
  readonly transport: Transport
  /** `namespace/name` of an existing ConfigMap. */
  readonly configMap: string
  /** PEM. */
  readonly authority: string
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/**
 * Publishes the agent link's authority to the cluster's pods, in a ConfigMap that they mount. Written once at each
 * start.
 */
export class AuthorityPublisher implements Component {
  readonly name = 'authority-publisher'
  readonly #options: AuthorityPublisherOptions
  readonly #stopping = new AbortController()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: AuthorityPublisherOptions) {
    this.#options = options
  }

  /** Returns at once. Everything else works without the cluster's API server. */
  start(): void {
    const { transport, configMap, authority, clock, log } = this.#options
    const { signal } = this.#stopping
    const [namespace = '', name = ''] = configMap.split('/')
    const client = new KubeClient(transport)
    const write = async (): Promise<'done'> => {
      const patch = { data: { 'ca.crt': authority } }
      if ((await client.mergePatch(CONFIG_MAPS, { namespace, name }, patch, { signal })) === null)
        throw new Error(`there is no ConfigMap ${configMap}`)
      log.info({ event: 'authority-published', configMap }, 'the authority is published to pods')
      return 'done'
    }
    this.#writing = retry(write, {
      ...{ clock, signal, firstPauseMs: FIRST_PAUSE_MS, longestPauseMs: LONGEST_PAUSE_MS },
      onFailure: ({ message }) =>
        log.warn(
          { event: 'authority-not-published', reason: message },
          'the authority was not published to pods; will try again',
        ),
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#writing
  }
}
