import {
  PAYLOAD_TYPES,
  type Secret,
  type SecretConsumer,
  type SecretContainer,
  secret,
  secretContainer,
} from '@spout/model'
import { z } from 'zod'

/** Written once. Errors never quote it. */
export interface Payload {
  readonly type: (typeof PAYLOAD_TYPES)[number]
  readonly bytes: Buffer
}

export const secretDraft = secret
  .pick({
    projectId: true,
    creatorId: true,
    name: true,
    secretType: true,
    algorithm: true,
    mode: true,
    bitLength: true,
    expiresAt: true,
  })
  .extend({
    payload: z.strictObject({ type: z.enum(PAYLOAD_TYPES), bytes: z.instanceof(Buffer) }).nullable(),
  })
export type SecretDraft = z.input<typeof secretDraft>

export const secretContainerDraft = secretContainer.pick({
  projectId: true,
  creatorId: true,
  name: true,
  type: true,
  secrets: true,
})
export type SecretContainerDraft = z.input<typeof secretContainerDraft>

/** What may change of a container: the secrets of a generic one, and its consumers. */
export type SecretContainerChange = (
  container: SecretContainer,
) => Partial<{ readonly secrets: SecretContainer['secrets']; readonly consumers: readonly SecretConsumer[] }>

/** Writes of the key manager. A payload is sealed before it is stored, and only `openSecret` gives it in clear. */
export interface SecretAdmission {
  createSecret(draft: SecretDraft): Promise<Secret>
  /** @throws SpoutError AlreadyExists if it has one */
  setPayload(id: string, payload: Payload): Promise<Secret>
  /**
   * Also deletes the certificate that was made of it, and takes the secret out of containers.
   * @throws SpoutError InUse while a load balancer uses that certificate
   */
  deleteSecret(id: string): Promise<void>
  /**
   * Opens the payload for its own project, and to make a certificate of it.
   * @throws SpoutError NotFound; Unavailable when no configured key opens it
   */
  openSecret(id: string): Payload | null
  createSecretContainer(draft: SecretContainerDraft): Promise<SecretContainer>
  changeSecretContainer(id: string, change: SecretContainerChange): Promise<SecretContainer>
  /**
   * Also deletes the certificate that was made of it. Its secrets stay.
   * @throws SpoutError InUse while a load balancer uses that certificate
   */
  deleteSecretContainer(id: string): Promise<void>
}
