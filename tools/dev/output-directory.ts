import path from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from './verb.ts'

/** The directory of `--out`, the only option of a verb that builds files. @throws UsageError for anything else */
export function outputOf(args: readonly string[], usual: string): string {
  try {
    const { values } = parseArgs({ args: [...args], options: { out: { type: 'string' } } })
    return path.resolve(values.out ?? usual)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
