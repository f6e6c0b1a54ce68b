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
/** The key of a ConfigMap with certificate authorities. The key of a Secret is `namespace/name`. */
export const configMapKey = (key: string): string => `${CONFIG_MAP}${key}`

const AUTHORITIES = 'Authorities/'
/** The key under which a Secret is followed as certificate authorities, which need no private key. */
export const authoritiesKey = (key: string): string => `${AUTHORITIES}${key}`

const USERS: Readonly<Record<UsersIn, string>> = { 'auth-file': 'Users/', 'auth-map': 'UsersByName/' }
/** The key under which a Secret is followed as a list of users. */
export const usersKey = (key: string, form: UsersIn): string => `${USERS[form]}${key}`

/** How a Secret is read, by the prefix of its key. The first matching prefix counts. */
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

/** Follows Secrets, and ConfigMaps with certificate authorities, each by its name. No others are read. */
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
