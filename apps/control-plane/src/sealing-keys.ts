import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Secret } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { SealingKeys } from '@spout/runtime/sealing-keys'

export interface SealingSettings {
  /** The keys themselves; empty or absent: they are in a file. */
  readonly sealingKeys?: Secret<string> | undefined
  /** Empty: `<stateDirectory>/sealing-keys`, which the first start makes. */
  readonly sealingKeysFile: string
}

/**
 * The keys that private keys are sealed with in the store: the configured ones, else those of a file.
 * @throws ConfigError that names the setting; Error if the file cannot be read
 */
export function openSealingKeys(
  stateDirectory: string,
  { sealingKeys, sealingKeysFile }: SealingSettings,
): SealingKeys {
  if (sealingKeys !== undefined) return parsed(sealingKeys.reveal(), 'certificates.sealingKeys')
  const file = sealingKeysFile || path.join(stateDirectory, 'sealing-keys')
  return parsed(sealingKeysFile === '' ? readOrMake(file) : readFileSync(file, 'utf8'), file)
}

function parsed(text: string, source: string): SealingKeys {
  try {
    return SealingKeys.parse(text)
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigError(`${source}: ${error.message}`)
    throw error
  }
}

function readOrMake(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const text = `${SealingKeys.generate()}\n`
  writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true })
  return text
}
