import { readFile, stat } from 'node:fs/promises'
import { call, type Endpoints, type Session } from '@spout/client'
import type { Sessions } from '@spout/client/native-api'
import type { Clock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { VERSION } from '@spout/runtime/version'

/** Administrators see which versions call (`spout upgrade --check`). */
const NAMED = { userAgent: `spout-connector/${VERSION}` } as const

/** How we authenticate to the control plane. */
export interface CredentialSettings {
  readonly tokenFile: string
  readonly applicationCredentialId: string
  readonly applicationCredentialSecretFile: string
  readonly serviceAccountTokenFile: string
}

/**
 * Sessions for the control plane with the configured credential.
 * @param endpoints shared by all sessions of the process, so that each knows which control plane is gone
 * @param field the setting that holds the credential, for errors
 * @throws ConfigError when no kind of credential is set, or more than one
 */
export function sessionsOf(
  endpoints: Endpoints,
  credential: CredentialSettings,
  field: string,
  clock: Clock,
): Sessions {
  const { tokenFile, applicationCredentialId: id, applicationCredentialSecretFile: secretFile } = credential
  const { serviceAccountTokenFile: accountFile } = credential
  if (tokenFile !== '' && id !== '')
    throw new ConfigError(`${field}.tokenFile: cannot be combined with ${field}.applicationCredentialId`)
  if (accountFile !== '' && (tokenFile !== '' || id !== ''))
    throw new ConfigError(
      `${field}.serviceAccountTokenFile: cannot be combined with ${field}.tokenFile or ${field}.applicationCredentialId`,
    )
  if (tokenFile !== '') return new TokenFile(endpoints, tokenFile, clock)
  const read = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim()
  if (accountFile !== '')
    return new Login(endpoints, async () => ({ serviceAccountToken: await read(accountFile) }), clock)
  if (id === '')
    throw new ConfigError(
      `${field}.tokenFile: is not set, nor is ${field}.applicationCredentialId or ${field}.serviceAccountTokenFile`,
    )
  if (secretFile === '') throw new ConfigError(`${field}.applicationCredentialSecretFile: is not set`)
  return new Login(endpoints, async () => ({ applicationCredentialId: id, secret: await read(secretFile) }), clock)
}

/** Interval at which the file is checked for a new token, at most. */
const LOOK_EVERY_MS = 1000

/** A token in a file that another program renews. */
class TokenFile implements Sessions {
  readonly #endpoints: Endpoints
  readonly #file: string
  readonly #clock: Clock
  #read: { readonly mtimeMs: number; readonly token: string } | null = null
  #lookAtMs = Number.NEGATIVE_INFINITY

  constructor(endpoints: Endpoints, file: string, clock: Clock) {
    this.#endpoints = endpoints
    this.#file = file
    this.#clock = clock
  }

  async session(): Promise<Session> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#read !== null && nowMs < this.#lookAtMs)
      return { endpoints: this.#endpoints, token: this.#read.token, ...NAMED }
    const { mtimeMs } = await stat(this.#file)
    let read = this.#read
    if (read?.mtimeMs !== mtimeMs) read = { mtimeMs, token: (await readFile(this.#file, 'utf8')).trim() }
    this.#read = read
    this.#lookAtMs = nowMs + LOOK_EVERY_MS
    return { endpoints: this.#endpoints, token: read.token, ...NAMED }
  }

  forget(): void {
    this.#read = null
  }
}

interface Issued {
  readonly token: string
  readonly expiresAt: string
}

/** A login without an answer for this long is given up, so that the next one may go elsewhere. */
const LONGEST_LOGIN_MS = 60_000

/** A token is renewed after this fraction of its lifetime. */
const RENEW_AT = 0.8

/** Gets tokens with an application credential or a service account. Concurrent callers share one login. */
class Login implements Sessions {
  readonly #endpoints: Endpoints
  /** Makes the body of a login. It reads files anew each time, because secrets may have changed. */
  readonly #body: () => Promise<object>
  readonly #clock: Clock
  #token: { readonly token: string; readonly renewAtMs: number } | null = null
  #login: Promise<string> | null = null

  constructor(endpoints: Endpoints, body: () => Promise<object>, clock: Clock) {
    this.#endpoints = endpoints
    this.#body = body
    this.#clock = clock
  }

  async session(): Promise<Session> {
    const known = this.#token
    if (known !== null && this.#clock.now().getTime() < known.renewAtMs)
      return { endpoints: this.#endpoints, token: known.token, ...NAMED }
    this.#login ??= this.#renew().finally(() => {
      this.#login = null
    })
    return { endpoints: this.#endpoints, token: await this.#login, ...NAMED }
  }

  forget(): void {
    this.#token = null
  }

  async #renew(): Promise<string> {
    const anonymous = { endpoints: this.#endpoints, token: '', ...NAMED }
    const body = await this.#body()
    const issued = await call<Issued>(anonymous, 'POST', '/tokens', body, AbortSignal.timeout(LONGEST_LOGIN_MS))
    const nowMs = this.#clock.now().getTime()
    const renewAtMs = nowMs + (Date.parse(issued.expiresAt) - nowMs) * RENEW_AT
    this.#token = { token: issued.token, renewAtMs }
    return issued.token
  }
}
