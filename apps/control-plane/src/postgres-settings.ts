import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Secret } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { parsePostgresAddress } from '@spout/store'
import type { PostgresSettings } from '@spout/store/postgres'
import type { ControlPlaneConfig } from './config.ts'

/** How to reach the database that the configuration names. @throws ConfigError for an authority that cannot be read */
export function postgresSettings({ postgres }: ControlPlaneConfig['store']): PostgresSettings {
  const { database, user, password, passwordFile, tls, caFile } = postgres
  return {
    servers: postgres.servers.flatMap((text) => parsePostgresAddress(text) ?? []),
    ...{ database, user },
    password: async () => (passwordFile === '' ? (password ?? null) : passwordIn(passwordFile)),
    tls: tls ? { ca: caFile === '' ? undefined : authoritiesIn(caFile) } : null,
  }
}

async function passwordIn(file: string): Promise<Secret<string>> {
  try {
    return new Secret((await readFile(file, 'utf8')).replace(/\r?\n$/, ''))
  } catch (error) {
    throw new Error(`store.postgres.passwordFile cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function authoritiesIn(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`Field store.postgres.caFile: cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new ConfigError('Field store.postgres.caFile: has no certificate in PEM')
  }
}
