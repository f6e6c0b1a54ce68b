import { readFileSync } from 'node:fs'
import { SpoutError } from '@spout/model/errors'

/**
 * Reads the JSON value of a file; `-` is the standard input.
 * @param flag named in errors, such as `--routes`
 * @throws SpoutError InvalidField
 */
export function jsonIn(file: string, flag: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new SpoutError('InvalidField', { field: flag, reason: (error as Error).message })
  }
}
