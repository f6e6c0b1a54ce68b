import { commitOf, sourcesOf } from '../release/checkout.ts'
import { billOf } from '../release/sbom.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

/** `./dev sbom` */
export const sbom: Verb = {
  name: 'sbom',
  usage: '',
  summary: 'prints what a release of this commit consists of, as CycloneDX',
  details:
    'npm packages with their hashes, the C sources, and the Debian packages of the image. A commit always gives the same bill.',
  async run(args) {
    if (args.length > 0) throw new UsageError('sbom takes no argument')
    const bill = billOf(await sourcesOf(ROOT, await commitOf(ROOT)))
    process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)
    return 0
  },
}
