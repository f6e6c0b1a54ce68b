import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../verb.ts'

/**
 * Programs that run in place of images of pods, from `--image NAME=PROGRAM`. A name without a tag stands for all its
 * tags.
 * @throws UsageError for text that is not such a pair, or a file that is not a program
 */
export function imagesOf(given: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=')
      const [name, program] = [text.slice(0, at), path.resolve(text.slice(at + 1))]
      if (at < 1 || text.length === at + 1) throw new UsageError(`--image ${text}: is not NAME=PROGRAM`)
      if (!isProgram(program)) throw new UsageError(`--image ${name}: ${program} is not a program`)
      return [name, [program]]
    }),
  )
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
