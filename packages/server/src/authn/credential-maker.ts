import { randomUUID } from 'node:crypto'
import type { Admission, ModelView } from '@spout/admission/contract'
import { type ApplicationCredential, type Role, SpoutError } from '@spout/model'
import { type Clock, Mutex } from '@spout/runtime'
import type { FastifyRequest } from 'fastify'
import type { Authenticator } from './authenticator.ts'
import { credentialOf } from './grant.ts'
import type { Session } from './issued-tokens.ts'
import { sourceOf } from './login-source.ts'
import { isNameOfPerson } from './person-name.ts'
import { newSecret } from './token-secret.ts'

export interface CredentialDraft {
  readonly name: string
  readonly description: string
  /** Null: a new one. */
  readonly secret: string | null
  /** Null: all that the token has. */
  readonly roles: readonly Role[] | null
  readonly expiresAt: string | null
}

/** A stored credential, and its secret, which is shown this once. */
export interface NewCredential {
  readonly credential: ApplicationCredential
  readonly secret: string
}

interface CredentialMakerOptions {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticator: Authenticator
  readonly clock: Clock
  /** How many one user may have. */
  readonly perUser: number
}

/** Makes application credentials, each for its user and the project of the token. One for all surfaces, which count together. */
export class CredentialMaker {
  readonly #options: CredentialMakerOptions
  readonly #creations = new Mutex()

  constructor(options: CredentialMakerOptions) {
    this.#options = options
  }

  /** @throws SpoutError Forbidden for sessions that may make none, whatever the draft */
  requireMaker({ principal, token }: Session, request: FastifyRequest): void {
    if (principal.projectId === null)
      throw new SpoutError('Forbidden', { reason: 'a credential is made by its user, on the project of the token' })
    if (credentialOf(token) !== null)
      throw new SpoutError('Forbidden', { reason: 'an application credential may not make another' })
    if (request.foreignSession !== undefined)
      throw new SpoutError('Forbidden', { reason: "Keystone's users make their credentials there" })
    // The provider is not asked about a credential, which would go on when the person has left.
    if (isNameOfPerson(principal.userName))
      throw new SpoutError('Forbidden', { reason: 'who logs in by OpenID Connect makes no credentials' })
  }

  /**
   * @param draft whose roles the session has
   * @throws SpoutError Forbidden, NameTaken, OverQuota
   */
  async make(session: Session, request: FastifyRequest, draft: CredentialDraft): Promise<NewCredential> {
    this.requireMaker(session, request)
    const { admission, authenticator, clock } = this.#options
    const { userId, projectId, roles } = session.principal
    const { name, description, expiresAt } = draft
    if (this.#ownOf(userId).some((own) => own.name === name))
      throw new SpoutError('NameTaken', { field: 'name', what: 'application credential', name })
    if (roles.length === 0) throw new SpoutError('Forbidden', { reason: 'you have no role to pass on' })
    this.#requireRoom(userId)
    const secret = draft.secret ?? newSecret()
    const credential: ApplicationCredential = {
      ...{ id: randomUUID(), name, description, userId, projectId: projectId ?? '', expiresAt },
      ...{ createdAt: clock.now().toISOString(), updatedAt: null },
      roles: [...new Set(draft.roles ?? roles)],
      secretHash: await authenticator.passwords.hash(secret, { user: userId, source: sourceOf(request.ip) }),
    }
    // The user may have created other credentials while this one was hashed.
    await this.#creations.run(async () => {
      this.#requireRoom(userId)
      await admission.putApplicationCredential(credential)
    })
    return { credential, secret }
  }

  /** @throws SpoutError Forbidden for a session of an application credential, which deletes none */
  async delete({ token }: Session, id: string): Promise<void> {
    if (credentialOf(token) !== null)
      throw new SpoutError('Forbidden', { reason: 'an application credential may not delete credentials' })
    await this.#options.admission.deleteApplicationCredential(id)
  }

  #ownOf(userId: string): readonly ApplicationCredential[] {
    return this.#options.view.list('applicationCredential').filter((known) => known.userId === userId)
  }

  #requireRoom(userId: string): void {
    const [used, limit] = [this.#ownOf(userId).length, this.#options.perUser]
    if (used >= limit)
      throw new SpoutError('OverQuota', { resource: 'application_credentials', limit, used, wanted: 1 })
  }
}
