import {
  CONFIG_MAPS,
  type ConfigMap,
  collectionPath,
  isNotFound,
  KubeError,
  type Secret as KubeSecret,
  objectPath,
  SECRETS,
  type Transport,
} from '@spout/kube'
import { type Clock, type Logger, pause } from '@spout/runtime'
import { type OrRefusal, refuse, shown } from '../refusal.ts'
import { authoritiesOf, secretAuthoritiesOf, type TlsContent, tlsContentOf } from './tls-secret.ts'
import { type UsersIn, usersSecretOf } from './users-secret.ts'

export interface NamedSecretsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Called with the key of a Secret that was read for the first time, or has changed. */
  readonly onChange: (key: string) => void
}

/** How often a Secret is read while we may not watch it, or not read it. */
const READ_AGAIN_MS = 10_000
const UNREACHABLE_MS = 1000
/** The API server ends a watch after this time. */
const WATCH_SECONDS = 300
const SILENCE_MS = (WATCH_SECONDS + 30) * 1000

interface Followed {
  readonly stop: AbortController
  readonly done: Promise<void>
}

type Held = KubeSecret | ConfigMap
type WatchLine = { readonly type: string; readonly object: Held }

const CONFIG_MAP = 'ConfigMap/'
/** The key of a ConfigMap with authorities; that of a Secret is `namespace/name`. */
export const configMapKey = (key: string): string => `${CONFIG_MAP}${key}`

const AUTHORITIES = 'Authorities/'
/** The key under which the authorities of a Secret are followed. They need no private key. */
export const authoritiesKey = (key: string): string => `${AUTHORITIES}${key}`

const USERS: Readonly<Record<UsersIn, string>> = { 'auth-file': 'Users/', 'auth-map': 'UsersByName/' }
/** The key under which the list of users of a Secret is followed. */
export const usersKey = (key: string, form: UsersIn): string => `${USERS[form]}${key}`

/** The prefixes of keys, and how Secrets with such keys are read. */
const READ_AS: readonly (readonly [prefix: string, read: (secret: KubeSecret) => OrRefusal<TlsContent>])[] = [
  [AUTHORITIES, secretAuthoritiesOf],
  [USERS['auth-file'], (secret) => usersSecretOf(secret, 'auth-file')],
  [USERS['auth-map'], (secret) => usersSecretOf(secret, 'auth-map')],
  ['', tlsContentOf],
]

/** The namespace and name of a key. */
const placeOf = (key: string) => {
  const isConfigMap = key.startsWith(CONFIG_MAP)
  const path = isConfigMap ? key.slice(CONFIG_MAP.length) : key.slice(readAs(key)[0].length)
  const [namespace = '', name = ''] = path.split('/', 2)
  return isConfigMap
    ? { namespace, name, resource: CONFIG_MAPS, kind: 'ConfigMap', field: 'configMap' }
    : { namespace, name, resource: SECRETS, kind: 'Secret', field: 'secret' }
}

/**
 * The Secrets, and ConfigMaps of authorities, of these names and no others, each read and watched by its name alone. No
 * list of them is ever asked for, so RBAC can allow `get` and `watch` of single names. Where watching is not allowed,
 * it reads again now and then.
 */
export class NamedSecrets {
  readonly #options: NamedSecretsOptions
  readonly #followed = new Map<string, Followed>()
  readonly #contents = new Map<string, OrRefusal<TlsContent>>()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: NamedSecretsOptions) {
    this.#options = options
  }

  /**
   * Begins to follow an object; does nothing if it is followed already.
   * @param key `namespace/name`
   */
  follow(key: string): void {
    if (this.#followed.has(key)) return
    const stop = new AbortController()
    this.#followed.set(key, { stop, done: this.#follow(key, stop.signal) })
  }

  forget(key: string): void {
    const followed = this.#followed.get(key)
    if (followed === undefined) return
    followed.stop.abort()
    this.#followed.delete(key)
    this.#contents.delete(key)
    this.#ending.add(followed.done)
    void followed.done.then(() => this.#ending.delete(followed.done))
  }

  /** Null until the Secret was read for the first time. */
  of(key: string): OrRefusal<TlsContent> | null {
    return this.#contents.get(key) ?? null
  }

  async close(): Promise<void> {
    for (const key of [...this.#followed.keys()]) this.forget(key)
    await Promise.all(this.#ending)
  }

  async #follow(key: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!signal.aborted) {
      let pauseMs = 0
      try {
        const canBeRead = await this.#read(key, signal)
        if (!canBeRead || !(await this.#watch(key, signal))) pauseMs = READ_AGAIN_MS
      } catch (error) {
        pauseMs = UNREACHABLE_MS
        if (!signal.aborted)
          log.warn(
            { event: 'secret-unread', secret: key, reason: (error as Error).message },
            'a Secret could not be read; will try again',
          )
      }
      if (pauseMs > 0) await pause(clock, pauseMs, signal)
    }
  }

  /** @returns false when we may not read it */
  async #read(key: string, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, resource, kind, field } = placeOf(key)
    try {
      const path = objectPath(resource, { namespace, name })
      this.#take(key, await this.#options.transport.request<Held>({ method: 'GET', path, signal }), signal)
      return true
    } catch (error) {
      if (isNotFound(error)) {
        this.#take(key, null, signal)
        return true
      }
      if (!isForbidden(error)) throw error
      this.#put(
        key,
        refuse(`${kind}Forbidden`, field, `RBAC does not let us read ${kind} ${shown(`${namespace}/${name}`)}.`),
        signal,
      )
      return false
    }
  }

  /** Follows a Secret until the watch ends. @returns false when we may not watch it */
  async #watch(key: string, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, resource } = placeOf(key)
    try {
      const lines = this.#options.transport.lines({
        path: collectionPath(resource, namespace),
        // A watch without a version starts with the present Secret.
        query: { watch: true, fieldSelector: `metadata.name=${name}`, timeoutSeconds: WATCH_SECONDS },
        signal,
        silenceMs: SILENCE_MS,
      })
      for await (const group of lines)
        for (const line of group) {
          const { type, object } = JSON.parse(line) as WatchLine
          if (type === 'ADDED' || type === 'MODIFIED') this.#take(key, object, signal)
          else if (type === 'DELETED') this.#take(key, null, signal)
          else if (type === 'ERROR') return true
        }
      return true
    } catch (error) {
      if (isForbidden(error)) return false
      throw error
    }
  }

  #take(key: string, object: Held | null, signal: AbortSignal): void {
    const { namespace, name, kind, field } = placeOf(key)
    const missing = () => refuse(`${kind}NotFound`, field, `There is no ${kind} ${shown(`${namespace}/${name}`)}.`)
    const content =
      object === null
        ? missing()
        : kind === 'Secret'
          ? readAs(key)[1](object as KubeSecret)
          : authoritiesOf(object as ConfigMap)
    this.#put(key, content, signal)
  }

  #put(key: string, content: OrRefusal<TlsContent>, signal: AbortSignal): void {
    if (signal.aborted || textOf(this.#contents.get(key)) === textOf(content)) return
    this.#contents.set(key, content)
    this.#options.onChange(key)
  }
}

const readAs = (key: string) => READ_AS.find(([prefix]) => key.startsWith(prefix))!

const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.status === 403

const textOf = (content: OrRefusal<TlsContent> | undefined): string =>
  content === undefined ? '' : 'refusal' in content ? JSON.stringify(content.refusal) : content.value.hash
