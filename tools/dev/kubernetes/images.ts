import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../verb.ts'

/**
 * Programs that stand for images of pods, of `--image NAME=PROGRAM`. A name without a tag stands for all its tags.
 * @throws UsageError naming what is no such pair, and what is no program
 */
export function imagesOf(given: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=')
      const [name, program] = [text.slice(0, at), path.resolve(text.slice(at + 1))]
      if (at < 1 || text.length === at + 1) throw new UsageError(`--image ${text}: is not NAME=PROGRAM`)
      if (!isProgram(program)) throw new UsageError(`--image ${name}: ${program} is no program`)
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
