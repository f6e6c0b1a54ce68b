import { runInteractive } from '@spout/testkit'
import { ROOT, UsageError, type Verb } from './verb.ts'

/** `./dev add PACKAGE` */
export const add: Verb = {
  name: 'add',
  usage: '[-w WORKSPACE] PACKAGE…',
  summary: 'adds a dependency, pinned exactly, and proves that npm ci still accepts the lock file',
  details:
    'npm resolves versions for the Node.js that it runs on, so the pinned one is first in its PATH. Install scripts are never run.',
  async run(args) {
    if (args.length === 0) throw new UsageError('name a package')
    const code = await runInteractive(['npm', '--prefix', ROOT, 'install', '--save-exact', '--ignore-scripts', ...args])
    return code !== 0
      ? code
      : runInteractive(['npm', '--prefix', ROOT, 'ci', '--dry-run', '--ignore-scripts', '--no-audit'])
  },
}
