import type { Secret, SecretConsumer, SecretContainer } from '@spout/model'
import { containerRef, secretRef } from './references.ts'

/** Barbican's times have neither zone nor, here, a fraction. */
const time = (text: string): string => text.slice(0, 19)

const described = ({ name, createdAt, updatedAt, creatorId }: Secret | SecretContainer) => ({
  name: name === '' ? null : name,
  created: time(createdAt),
  updated: time(updatedAt ?? createdAt),
  status: 'ACTIVE',
  creator_id: creatorId,
})

/** A secret in Barbican's format, without its payload. */
export const shownSecret = (secret: Secret, base: string) => ({
  ...described(secret),
  secret_ref: secretRef(base, secret.id),
  secret_type: secret.secretType,
  algorithm: secret.algorithm,
  mode: secret.mode,
  bit_length: secret.bitLength,
  expiration: secret.expiresAt && time(secret.expiresAt),
  ...(secret.payloadType !== null && { content_types: { default: secret.payloadType } }),
})

const shownConsumer = ({ name, url }: SecretConsumer) => ({ name, URL: url })

export const shownContainer = (container: SecretContainer, base: string) => ({
  ...described(container),
  container_ref: containerRef(base, container.id),
  type: container.type,
  secret_refs: container.secrets.map(({ name, secretId }) => ({
    ...(name !== '' && { name }),
    secret_ref: secretRef(base, secretId),
  })),
  consumers: container.consumers.map(shownConsumer),
})

export const shownConsumerOf = (container: SecretContainer) => (consumer: SecretConsumer) => ({
  ...shownConsumer(consumer),
  created: time(container.createdAt),
  updated: time(container.updatedAt ?? container.createdAt),
  status: 'ACTIVE',
})
