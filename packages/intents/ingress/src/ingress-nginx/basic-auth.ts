import { type UsersIn, usersKey } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { basicAuthentication } from '@spout/model'
import { AnnotationReader } from './annotation-reader.ts'
import { satisfiesAny } from './satisfy.ts'

/** Basic authentication: clients must send the name and password of a user. */
export interface BasicAuth {
  /** The Secret with the users, by the key under which `NamedSecrets` follows it. */
  readonly users: string
  /** The realm in the challenge. Undefined: the default. */
  readonly realm: string | undefined
  /** `satisfy: any`: whether clients on the allow list need no password, and all others are admitted with one. */
  readonly orAllowed: boolean
}

const SECRET = /^(?:(?<namespace>[a-z0-9-]{1,63})\/)?(?<name>[a-z0-9][a-z0-9.-]{0,252})$/
const FORMS: readonly UsersIn[] = ['auth-file', 'auth-map']

/**
 * Reads the annotations for basic authentication. As in ingress-nginx, they have no effect without `auth-type`.
 * @param namespace the namespace of the Ingress. It may not name a Secret of another one, as in ingress-nginx by
 * default
 */
export function basicAuthOf(read: AnnotationReader, namespace: string): BasicAuth | null {
  const type = read.text('auth-type')
  if (type === undefined) return null
  const refused = (name: string, why: string): null => {
    read.refuse(name, why)
    return null
  }
  if (type !== 'basic') return refused('auth-type', 'passwords are asked for by basic authentication alone')
  const text = read.text('auth-secret')
  if (text === undefined) return refused('auth-type', 'no Secret with users is named (auth-secret)')
  const { namespace: named = namespace, name } = SECRET.exec(text)?.groups ?? {}
  if (name === undefined || named !== namespace)
    return refused('auth-secret', 'it is not the name of a Secret of the namespace')
  const wanted = read.text('auth-secret-type') ?? 'auth-file'
  const form = FORMS.find((one) => one === wanted)
  if (form === undefined) return refused('auth-secret-type', 'it is neither auth-file nor auth-map')
  const realm = read.text('auth-realm')
  return {
    users: usersKey(`${namespace}/${name}`, form),
    realm: realm === undefined ? undefined : read.parsed('auth-realm', basicAuthentication.shape.realm, realm),
    orAllowed: satisfiesAny(read),
  }
}

/** The key of the Secret with users that an Ingress names and may name; null for none. */
export const usersNamedBy = ({ metadata }: Ingress): string | null =>
  basicAuthOf(new AnnotationReader(metadata.annotations ?? {}), metadata.namespace ?? '')?.users ?? null
