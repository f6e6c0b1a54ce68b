import type { BgpSettings } from '@spout/model/node-state'
import { readFileOrNull, removeFile, writeFileAtomically } from '@spout/sys'

const VERSION = 1

/**
 * Saves the settings, by which the next agent finds the route of each address. In memory-backed /run, readable by root
 * alone.
 */
export const writeSettings = (path: string, settings: BgpSettings): Promise<void> =>
  writeFileAtomically(path, JSON.stringify({ version: VERSION, settings }))

/** Null if there is no file, or none that this version can read. */
export async function readSettings(path: string): Promise<BgpSettings | null> {
  const text = await readFileOrNull(path)
  if (text === null) return null
  const { version, settings } = JSON.parse(text.toString('utf8')) as { version: number; settings: BgpSettings }
  return version === VERSION ? settings : null
}

export const removeSettings = removeFile
