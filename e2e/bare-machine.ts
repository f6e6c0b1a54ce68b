import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type Lab, must, type RunOptions, type RunResult, run, waitFor } from '@spout/testkit'
import { debianTree } from '../tools/release/debian-tree.ts'
import { debianNeeds } from '../tools/release/packages/package-table.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
/** The shells are for their completions. */
const INSTALLED = ['systemd', 'zsh', 'fish']
const UNIFIED = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup']
const ENVIRONMENT = [
  'env',
  '-i',
  'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
  'DEBIAN_FRONTEND=noninteractive',
  'LC_ALL=C.UTF-8',
]

/**
 * A Debian 12 with systemd and nothing that our packages need: these are only downloaded, so that apt needs no network. It
 * is made once, and kept in build/.
 */
async function bareDebian(): Promise<string> {
  const needed = debianNeeds()
  const key = createHash('sha256')
    .update([...INSTALLED, '', ...needed].join())
    .digest('hex')
    .slice(0, 12)
  const cache = path.join(ROOT, 'build/bare-debian')
  const tree = path.join(cache, key)
  if (existsSync(tree)) return tree
  process.stderr.write(`Making a bare Debian 12 in ${path.relative(ROOT, tree)}.\n`)
  mkdirSync(cache, { recursive: true })
  const unfinished = path.join(cache, 'unfinished')
  rmSync(unfinished, { recursive: true, force: true })
  const download = `chroot "$1" apt-get install -qq -y --no-install-recommends --download-only ${needed.join(' ')}`
  // The installer of Debian writes this file.
  const hosts = `printf '127.0.0.1 localhost\\n::1 localhost\\n' > "$1/etc/hosts"`
  const more = ['--skip=cleanup/apt', `--customize-hook=${hosts}`, `--customize-hook=${download}`]
  await debianTree(unfinished, { variant: 'apt', packages: INSTALLED, epochSeconds: 0, more })
  renameSync(unfinished, tree)
  return tree
}

/** In namespaces of its own: mounts, processes, name, control groups. The network is the place's. `$1` is its root. */
const BOOT = `set -e
mount -t overlay overlay -o "lowerdir=$2,upperdir=$3,workdir=$4" "$1"
cd "$1"
mount -t proc proc proc
# The machine may set what belongs to its network, and nothing of the kernel that all share.
mount --bind proc/sys proc/sys
mount --bind proc/sys/net proc/sys/net
mount -o remount,bind,ro proc/sys
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
ln -s /proc/self/fd dev/fd; ln -s pts/ptmx dev/ptmx
hostname machine
pivot_root . mnt
umount -l /mnt
exec env -i container=spout-test /lib/systemd/systemd --system --show-status=0
`
/** Its control group is made first: the namespace shows what is below. */
const START = `set -e
mkdir -p "$5"
echo $$ > "$5/cgroup.procs"
exec unshare --fork --kill-child --pid --mount --uts --ipc --cgroup --propagation private -- sh -c "$6" sh "$@"
`

/** A machine of a lab that runs a Debian 12 with systemd as its first process, in the network namespace of a place. */
export class BareMachine {
  readonly #pid: number

  private constructor(pid: number) {
    this.#pid = pid
  }

  /** @param packages files that the machine has in /srv */
  static async start(lab: Lab, place: string, packages: readonly string[]): Promise<BareMachine> {
    const lower = await bareDebian()
    const at = (name: string) => path.join(lab.directory, 'machine', name)
    for (const name of ['root', 'upper', 'work']) mkdirSync(at(name), { recursive: true })
    for (const file of packages) cpSync(file, path.join(at('upper'), 'srv', path.basename(file)), { recursive: true })
    // The lab removes groups of this name.
    const group = path.join(
      UNIFIED.find((one) => existsSync(path.join(one, 'cgroup.procs'))) ?? '',
      `spout-${lab.id}n0`,
    )
    const argv = ['sh', '-c', START, 'sh', at('root'), lower, at('upper'), at('work'), group, BOOT]
    const { pid, logFile } = await lab.start(place, 'machine', argv)
    const first = await waitFor(() => firstProcess(pid), { what: `the machine to start (log ${logFile})` })
    const machine = new BareMachine(first)
    await waitFor(
      async () => /^(running|degraded)$/m.test((await machine.run(['systemctl', 'is-system-running'])).stdout),
      {
        what: `systemd to be up (log ${logFile})`,
        timeoutMs: 60_000,
      },
    )
    return machine
  }

  run(argv: readonly string[], options?: RunOptions): Promise<RunResult> {
    return run(this.#within(argv), options)
  }

  must(argv: readonly string[], options?: RunOptions): Promise<string> {
    return must(this.#within(argv), options)
  }

  /** Runs a line in a shell of the machine. */
  sh(line: string, options?: RunOptions): Promise<string> {
    return this.must(['sh', '-euc', line], options)
  }

  write(file: string, text: string): Promise<string> {
    return this.must(['sh', '-c', 'umask 077; cat > "$1"', 'sh', file], { input: text })
  }

  #within(argv: readonly string[]): readonly string[] {
    const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root', '--wd']
    return ['nsenter', `--target=${this.#pid}`, ...namespaces, '--', ...ENVIRONMENT, ...argv]
  }
}

/** The child of `unshare`, once it is systemd: before, children of the script pass by. */
function firstProcess(pid: number): number | null {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const found = children.find((one) => readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'systemd')
  return found === undefined ? null : Number(found)
}
