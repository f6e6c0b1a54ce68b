import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The start of the files that sanitizers write with `sanitizerOptions`. */
const NAME = 'sanitizer'

/** A search for leaks met a thread that was ending, as when a test kills the process meanwhile. It found nothing. */
const ENDING_THREAD = /^==\d+==Unable to get registers from thread \d+\.$/

/** The environment of a program with sanitizers that writes what they find into this directory. */
export const sanitizerOptions = (directory: string): NodeJS.ProcessEnv => ({
  ASAN_OPTIONS: `log_path=${path.join(directory, NAME)}`,
})

/** What sanitizers found in the programs of this directory; empty if nothing. */
export const sanitizerFindings = (directory: string): string =>
  readdirSync(directory)
    .filter((name) => name.startsWith(NAME))
    .flatMap((name) => readFileSync(path.join(directory, name), 'utf8').split('\n'))
    .filter((line) => line !== '' && !ENDING_THREAD.test(line))
    .join('\n')
