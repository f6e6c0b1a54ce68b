import path from 'node:path'
import { commitOf } from '../release/checkout.ts'
import { buildPackages } from '../release/packages/build-packages.ts'
import { commitVersion } from '../release/packages/version.ts'
import { versionOf } from '../release/versions.ts'
import { outputOf } from './output-directory.ts'
import { ROOT, type Verb } from './verb.ts'

/** `./dev package [--out DIRECTORY]` */
export const packageVerb: Verb = {
  name: 'package',
  usage: '[--out DIRECTORY]',
  summary: 'builds the Debian packages of this commit, into build/packages unless told otherwise',
  details: [
    'spout, spout-control-plane, spout-node and spout-connector, for this machine’s processor. A commit gives the same bytes',
    'whenever it is built. Their version is before that of the next release; `./dev release` builds those of a release.',
  ].join('\n'),
  async run(args) {
    const directory = outputOf(args, path.join(ROOT, 'build/packages'))
    const at = await commitOf(ROOT)
    const version = commitVersion(versionOf(ROOT), at)
    const files = await buildPackages({ root: ROOT, version, epochSeconds: at.epochSeconds }, directory)
    process.stdout.write(files.map((file) => `${path.relative(process.cwd(), file)}\n`).join(''))
    return 0
  },
}
