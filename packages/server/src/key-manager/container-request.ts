import { parseAs, SECRET_CONTAINER_TYPES, type SecretContainer } from '@spout/model'
import { z } from 'zod'
import { mismatch } from './fault.ts'
import { idIn } from './references.ts'

const word = z.string().max(255).nullish()

export const namedSecret = z.object({ name: word, secret_ref: z.string().min(1).max(2048) })

const containerRequest = z.object({
  name: word,
  type: z.enum(SECRET_CONTAINER_TYPES),
  secret_refs: z.array(namedSecret).max(100).nullish(),
})

/** The names of a typed container's secrets: those that it needs, and all that it may have. */
const NAMES = {
  certificate: [['certificate'], ['certificate', 'private_key', 'private_key_passphrase', 'intermediates']],
  rsa: [
    ['private_key', 'public_key'],
    ['private_key', 'public_key', 'private_key_passphrase'],
  ],
} as const

/** Parses a request for a new container. @throws KeyManagerFault, SpoutError */
export function readContainer(body: unknown): Pick<SecretContainer, 'name' | 'type' | 'secrets'> {
  const { name, type, secret_refs } = parseAs(containerRequest, body)
  const secrets = (secret_refs ?? []).map(readNamedSecret)
  const refuse = (why: string) => mismatch('Container', 'secret_refs', why)
  const names = new Set(secrets.map((one) => one.name))
  if (names.size < secrets.length) throw refuse('Duplicate reference names are not allowed')
  if (new Set(secrets.map(({ secretId }) => secretId)).size < secrets.length)
    throw refuse('Duplicate secret ids are not allowed')
  if (type !== 'generic' && secrets.length > 0) {
    const [needed, allowed] = NAMES[type]
    if (![...names].every((one) => allowed.some((known) => known === one)))
      throw refuse(`only ${allowed.join(', ')} reference names are allowed for ${type} type`)
    if (!needed.every((one) => names.has(one)))
      throw refuse(`The minimum required reference names are ${needed.join(', ')} for ${type} type`)
  }
  return { name: name?.trim() ?? '', type, secrets }
}

/** @throws KeyManagerFault for a reference that ends in no id */
export function readNamedSecret({
  name,
  secret_ref,
}: z.output<typeof namedSecret>): SecretContainer['secrets'][number] {
  const secretId = idIn(secret_ref)
  if (secretId === null) throw mismatch('Container', 'secret_refs', 'a secret_ref ends in the id of a secret')
  return { name: name ?? '', secretId }
}
