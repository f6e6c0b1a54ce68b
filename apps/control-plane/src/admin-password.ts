import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Secret } from '@spout/runtime'
import { randomSecret } from '@spout/runtime/random-secret'

/**
 * The administrator's password: the configured one, else one generated at the first start and stored beside the data.
 */
export function adminPassword(stateDirectory: string, configured: Secret<string> | undefined): Secret<string> {
  if (configured) return configured
  const file = path.join(stateDirectory, 'admin-password')
  try {
    return new Secret(readFileSync(file, 'utf8').trim())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const password = randomSecret(18)
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 })
  writeFileSync(file, `${password}\n`, { mode: 0o600, flag: 'wx' })
  return new Secret(password)
}
