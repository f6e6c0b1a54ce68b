import { readFileSync } from 'node:fs'
import { ConfigError } from '@spout/runtime/config'

/** The text of the file that a setting names. @throws ConfigError that names the setting */
export function settingFile(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`Field ${setting}: cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
