import { runInteractive } from '@spout/testkit'
import { ROOT, type Verb } from './verb.ts'

/** `./dev golden` */
export const golden: Verb = {
  name: 'golden',
  usage: '',
  summary: 'rewrites golden files and the generated reference; look at the difference before you commit it',
  async run() {
    // What the reference is made of is most of the product: loaded here, it does not delay the other verbs by a second.
    const { writeReference } = await import('../reference/reference.ts')
    writeReference(ROOT)
    return runInteractive(['vitest', 'run', '--root', ROOT, '--project', 'unit', '--update'])
  },
}
