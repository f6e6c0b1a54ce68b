import { haproxyRefusal } from '@spout/dataplane'
import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type BuildsReading, readBuilds } from '../readings/builds.ts'

const FINDINGS = {
  ProgramMissing: {
    level: 'error',
    what: 'HAProxy, or the keepalived or BIRD that the group needs, does not run',
    why: 'What it carries is refused on this node, or not announced.',
    fix: '`apt-get install haproxy keepalived bird2`',
  },
  ProgramUnsafe: {
    level: 'error',
    what: 'an HAProxy that lets clients smuggle requests, or is older than 2.6.12',
    why: 'The agent does not start with it.',
    fix: '`apt-get install --only-upgrade haproxy`',
  },
  ProgramOld: {
    level: 'warning',
    what: 'a keepalived older than 2.2.7, a BIRD that is not from 2.0.12 to before 3',
    why: 'Its configuration or its output differs from what was tested; a shard or a session may stay down.',
    fix: '`apt-get install --only-upgrade keepalived bird2`',
  },
  KernelOld: {
    level: 'warning',
    what: 'a Linux older than 5.14',
    why: 'Nobody has tried it. Check `kernel` says what it lacks.',
    fix: '`apt-get install linux-image-amd64`, and restart',
  },
} as const satisfies Catalogue
type Code = keyof typeof FINDINGS

const OLDEST_KERNEL = '5.14'

export const judgeBuilds = ({ kernel, haproxy, keepalived, bird }: BuildsReading): readonly Found<Code>[] => [
  ...ofKernel(kernel),
  ...ofHaproxy(haproxy),
  ...ofDaemon('keepalived', keepalived, 'keepalived', '2.2.7', null),
  ...ofDaemon('BIRD', bird, 'bird2', '2.0.12', '3'),
]

function ofKernel(release: string): readonly Found<Code>[] {
  if (!before(release, OLDEST_KERNEL)) return []
  const message = `${release} runs, and ${OLDEST_KERNEL} is the oldest that was tried.`
  return [{ code: 'KernelOld', subject: 'Linux', message, fix: 'apt-get install linux-image-amd64; reboot' }]
}

function ofHaproxy(said: string): readonly Found<Code>[] {
  if (!/version/.test(said)) return [missing('HAProxy', 'haproxy')]
  const refusal = haproxyRefusal(said)
  if (refusal === null) return []
  const fix = 'apt-get update && apt-get install --only-upgrade haproxy'
  return [{ code: 'ProgramUnsafe', subject: 'HAProxy', message: `${refusal}.`, fix }]
}

/** @param said null where the node needs none */
function ofDaemon(
  name: string,
  said: string | null,
  debianPackage: string,
  oldest: string,
  tooNew: string | null,
): readonly Found<Code>[] {
  if (said === null) return []
  const version = /\bv?(\d+\.\d+(?:\.\d+)?)/.exec(said)?.[1]
  if (version === undefined) return [missing(name, debianPackage)]
  if (!before(version, oldest) && (tooNew === null || before(version, tooNew))) return []
  const bound = tooNew === null ? '' : ` and older than ${tooNew}`
  const message = `${version} runs; ${oldest} or newer${bound} was tested.`
  const fix = `apt-get update && apt-get install --only-upgrade ${debianPackage}`
  return [{ code: 'ProgramOld', subject: name, message, fix }]
}

const missing = (name: string, debianPackage: string): Found<'ProgramMissing'> => ({
  ...{ code: 'ProgramMissing', subject: name, message: 'It does not run here.' },
  fix: `apt-get install ${debianPackage}`,
})

/** Whether version `a` is older than `b`; what follows the numbers does not count. */
function before(a: string, b: string): boolean {
  const numbers = (version: string) => (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  const at = right.findIndex((number, index) => number !== (left[index] ?? 0))
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0)
}

export const builds = checkOf({
  name: 'versions',
  catalogue: FINDINGS,
  read: readBuilds,
  judge: judgeBuilds,
  right: ({ kernel }) => `Linux ${kernel} and the programs of the node are of versions that were tested.`,
})
