import { type Leadership, urlOfHolder } from '@spout/controllers'
import type { Clock, Component } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import type { Logger } from '@spout/runtime/logger'
import {
  aheadOfHandlers,
  type CertificateAuthority,
  type createServer,
  type Destination,
  ForeignAuthority,
  handlersOf,
  PeerCredentials,
  PeerServer,
  Relay,
} from '@spout/server'
import type { ControlPlaneConfig } from './config.ts'

export interface PeersOptions {
  readonly config: ControlPlaneConfig
  readonly authority: CertificateAuthority
  readonly leadership: Leadership
  /** The API, with all that sees its requests already in place. */
  readonly app: ReturnType<typeof createServer>
  readonly clock: Clock
  readonly log: Logger
}

/** @throws ConfigError when this process cannot be one of several */
export function checkPeers({ peers, store, api }: ControlPlaneConfig): void {
  if (peers.url === '') return
  if (store.engine !== 'postgres' && store.engine !== 'kubernetes')
    throw new ConfigError(
      `peers.url: needs store.engine postgres or kubernetes, and it is ${store.engine}: one process has that store`,
    )
  if (api.publicUrl === '')
    throw new ConfigError('peers.url: needs api.publicUrl: links must lead to whichever control plane is alive')
}

/** What a control plane does for and through the others on the same store. */
export class Peers {
  readonly relay: Relay
  readonly #options: PeersOptions
  readonly #credentials: PeerCredentials
  readonly #server: PeerServer

  constructor(options: PeersOptions) {
    const { config, authority, leadership, app, clock, log } = options
    const host = new URL(config.peers.url).hostname.replace(/^\[|\]$/g, '')
    this.#options = options
    this.#credentials = new PeerCredentials({ authority, host, clock, log })
    this.relay = new Relay({ credentials: this.#credentials, destination: () => destinationBy(leadership), clock, log })
    this.#server = new PeerServer({
      ...{ credentials: this.#credentials, serve: handlersOf(app.server), log },
      listen: { host: config.peers.host, port: config.peers.port },
      leads: () => leadership.leadsForSure,
    })
    aheadOfHandlers(app.server, this.relay.take)
  }

  /** To be started first. */
  get credentials(): Component {
    return this.#credentials
  }

  /** Answers for the others while this process leads. To be started once the API answers, and before it may lead. */
  get server(): Component {
    return {
      name: 'peers',
      start: () => this.#server.start(),
      stop: async () => {
        this.relay.close()
        await this.#server.stop()
      },
    }
  }

  /** Looks whether the leader is one of this installation. To be started once it is known who leads. */
  get finding(): Component {
    return { name: 'peer-finding', start: () => this.#findLeader(), stop: () => {} }
  }

  async #findLeader(): Promise<void> {
    const { config } = this.#options
    try {
      await this.relay.probe()
    } catch (error) {
      if (!(error instanceof ForeignAuthority)) throw error
      throw new ConfigError(
        `peers.url: ${config.stateDirectory}/agent-link has another authority than the control plane that leads: copy it, and sealing-keys, from there`,
      )
    }
  }
}

/** Whoever does not lead passes requests on. In doubt nobody answers: an answer of an earlier leader may be outdated. */
function destinationBy(leadership: Leadership): Destination {
  if (leadership.leadsForSure) return { at: 'here' }
  if (!leadership.follows) return { at: 'nowhere', reason: 'no control plane leads' }
  const url = urlOfHolder(leadership.leader?.holder ?? '')
  return url === null
    ? { at: 'nowhere', reason: 'the one that leads has no peers.url in its configuration' }
    : { at: 'peer', url }
}
