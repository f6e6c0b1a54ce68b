import { runInteractive } from '@spout/testkit'
import { writeReference } from '../reference/reference.ts'
import { ROOT, type Verb } from './verb.ts'

/** `./dev golden` */
export const golden: Verb = {
  name: 'golden',
  usage: '',
  summary: 'rewrites golden files and the generated reference; look at the difference before you commit it',
  async run() {
    writeReference(ROOT)
    return runInteractive(['vitest', 'run', '--root', ROOT, '--project', 'unit', '--update'])
  },
}
