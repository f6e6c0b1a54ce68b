import { X509Certificate } from 'node:crypto'
import { ConfigError } from '@spout/runtime/config'
import { settingFile } from './setting-file.ts'

/**
 * The authorities in the file that a setting names, PEM.
 * @returns null for no file: the authorities of the system
 * @throws ConfigError for a file without certificates: nobody's would be accepted
 */
export function authoritiesOf(setting: string, file: string): string | null {
  if (file === '') return null
  const text = settingFile(setting, file)
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new ConfigError(`Field ${setting}: has no certificate in PEM`)
  }
}
