import { CONFIG_MAPS, type Secret as KubeSecret, SECRETS, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import { NamedObjects, type Place } from '../cluster/named-objects.ts'
import type { OrRefusal } from '../refusal.ts'
import { authoritiesOf, secretAuthoritiesOf, type TlsContent, tlsContentOf } from './tls-secret.ts'
import { type UsersIn, usersSecretOf } from './users-secret.ts'

export interface NamedSecretsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Called with the key of a Secret that was read for the first time, or has changed. */
  readonly onChange: (key: string) => void
}

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

const isConfigMap = (key: string): boolean => key.startsWith(CONFIG_MAP)

/** The namespace and name of a key. */
const placeOf = (key: string): Place => {
  const path = isConfigMap(key) ? key.slice(CONFIG_MAP.length) : key.slice(readAs(key)[0].length)
  const [namespace = '', name = ''] = path.split('/', 2)
  return isConfigMap(key)
    ? { namespace, name, resource: CONFIG_MAPS, kind: 'ConfigMap', field: 'configMap' }
    : { namespace, name, resource: SECRETS, kind: 'Secret', field: 'secret' }
}

/** The Secrets, and ConfigMaps of authorities, of these names and no others. */
export class NamedSecrets extends NamedObjects<TlsContent> {
  constructor(options: NamedSecretsOptions) {
    super({
      ...options,
      placeOf,
      read: (key, object) => (isConfigMap(key) ? authoritiesOf(object) : readAs(key)[1](object)),
      versionOf: ({ hash }) => hash,
    })
  }
}

const readAs = (key: string) => READ_AS.find(([prefix]) => key.startsWith(prefix))!
