import { readFile, stat } from 'node:fs/promises'
import { call, type Session } from '@spout/client'
import type { Sessions } from '@spout/client/native-api'
import type { Clock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import type { ConnectorConfig } from './config.ts'

/** @throws ConfigError when neither or both ways are set */
export function sessionSource({ spout }: ConnectorConfig, clock: Clock): Sessions {
  const { endpoint, tokenFile, applicationCredentialId: id, applicationCredentialSecretFile: secretFile } = spout
  if (tokenFile !== '' && id !== '')
    throw new ConfigError('spout.tokenFile: stands beside spout.applicationCredentialId; set one of them')
  if (tokenFile !== '') return new TokenFile(endpoint, tokenFile, clock)
  if (id === '') throw new ConfigError('spout.tokenFile: is not set, nor is spout.applicationCredentialId')
  if (secretFile === '') throw new ConfigError('spout.applicationCredentialSecretFile: is not set')
  return new ApplicationCredential(endpoint, id, secretFile, clock)
}

/** Whether the file is another one is looked at this often. */
const LOOK_EVERY_MS = 1000

/** A token that somebody else renews. */
class TokenFile implements Sessions {
  readonly #endpoint: string
  readonly #file: string
  readonly #clock: Clock
  #read: { readonly mtimeMs: number; readonly token: string } | null = null
  #lookAtMs = Number.NEGATIVE_INFINITY

  constructor(endpoint: string, file: string, clock: Clock) {
    this.#endpoint = endpoint
    this.#file = file
    this.#clock = clock
  }

  async session(): Promise<Session> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#read !== null && nowMs < this.#lookAtMs) return { endpoint: this.#endpoint, token: this.#read.token }
    const { mtimeMs } = await stat(this.#file)
    let read = this.#read
    if (read?.mtimeMs !== mtimeMs) read = { mtimeMs, token: (await readFile(this.#file, 'utf8')).trim() }
    this.#read = read
    this.#lookAtMs = nowMs + LOOK_EVERY_MS
    return { endpoint: this.#endpoint, token: read.token }
  }

  forget(): void {
    this.#read = null
  }
}

interface Issued {
  readonly token: string
  readonly expiresAt: string
}

/** Renewed when so much of its life is over. */
const RENEW_AT = 0.8

/** Tokens by an application credential; one login at a time. */
class ApplicationCredential implements Sessions {
  readonly #endpoint: string
  readonly #id: string
  readonly #secretFile: string
  readonly #clock: Clock
  #token: { readonly token: string; readonly renewAtMs: number } | null = null
  #login: Promise<string> | null = null

  constructor(endpoint: string, id: string, secretFile: string, clock: Clock) {
    this.#endpoint = endpoint
    this.#id = id
    this.#secretFile = secretFile
    this.#clock = clock
  }

  async session(): Promise<Session> {
    const known = this.#token
    if (known !== null && this.#clock.now().getTime() < known.renewAtMs)
      return { endpoint: this.#endpoint, token: known.token }
    this.#login ??= this.#renew().finally(() => {
      this.#login = null
    })
    return { endpoint: this.#endpoint, token: await this.#login }
  }

  forget(): void {
    this.#token = null
  }

  async #renew(): Promise<string> {
    const secret = (await readFile(this.#secretFile, 'utf8')).trim()
    const body = { applicationCredentialId: this.#id, secret }
    const issued = await call<Issued>({ endpoint: this.#endpoint, token: '' }, 'POST', '/tokens', body)
    const nowMs = this.#clock.now().getTime()
    const renewAtMs = nowMs + (Date.parse(issued.expiresAt) - nowMs) * RENEW_AT
    this.#token = { token: issued.token, renewAtMs }
    return issued.token
  }
}
