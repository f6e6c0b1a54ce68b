import { LIBRARY } from '../packages/installed-text.ts'
import { debianNeeds } from '../packages/package-table.ts'

/** The image: what Debian gives, and how its programs are started. Our own packages are all of the package table. */
export const IMAGE = {
  suite: 'bookworm',
  /** What our packages need, and tini as the first process: it reaps daemons that the agent leaves behind. */
  debianPackages: [...debianNeeds(), 'tini'].sort(),
  /** Of a checkout; in the image below `LIBRARY`. */
  entrypointSource: 'deploy/image/entrypoint.sh',
  entrypoint: ['/usr/bin/tini', '--', `${LIBRARY}/entrypoint.sh`],
  /** Only an agent needs root: whoever runs one says so. The manifests run the other programs as this user, too. */
  user: 10_001,
  /** The user's: a volume that is mounted there begins with the same owner. */
  stateDirectories: ['/var/lib/spout', '/var/cache/spout'],
} as const
