import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { execOk } from '@spout/sys'
import { waitFor } from '@spout/testkit'

const PEERS = path.resolve(import.meta.dirname, '../../../build/peers')
const PACKAGES = ['conntrackd', 'libnetfilter-cthelper0', 'libnetfilter-queue1']

/**
 * The daemon's two ways to replicate. In both, flows go into the other node's kernel at once, as with spout-flows: by
 * default conntrackd keeps them in a cache of its own until a script commits them at a failover.
 */
export const MODES = {
  /** Acknowledged and sent again when lost. */
  ftfw: 'Mode FTFW { DisableExternalCache On }',
  /** Sent once, without a cache on either side: the least that the daemon can do. */
  notrack: 'Mode NOTRACK { DisableInternalCache On DisableExternalCache On }',
} as const
export type Mode = keyof typeof MODES

/** Unpacks Debian's conntrackd. Installing the package would start its service. @returns its path */
export async function fetchConntrackd(): Promise<string> {
  const executable = path.join(PEERS, 'usr/sbin/conntrackd')
  const isThere = await access(executable).then(
    () => true,
    () => false,
  )
  if (isThere) return executable
  await mkdir(PEERS, { recursive: true })
  const inPeers = promisify(execFile)
  await inPeers('apt-get', ['update', '-qq'])
  await inPeers('apt-get', ['download', '-qq', ...PACKAGES], { cwd: PEERS })
  await inPeers('sh', ['-c', 'for package in *.deb; do dpkg-deb -x "$package" . && rm "$package"; done'], {
    cwd: PEERS,
  })
  return executable
}

export interface ConntrackdSpec {
  readonly executable: string
  /** By name. */
  readonly namespace: string
  readonly mode: Mode
  readonly own: string
  readonly peer: string
  readonly link: string
}

/** A conntrackd in a namespace. */
export class Conntrackd implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #directory: string

  private constructor(child: ChildProcess, directory: string) {
    this.#child = child
    this.#directory = directory
  }

  get pid(): number {
    return this.#child.pid!
  }

  static async start(spec: ConntrackdSpec): Promise<Conntrackd> {
    const directory = await mkdtemp(path.join(tmpdir(), `spt${process.pid}-conntrackd-`))
    const config = path.join(directory, 'conf')
    await writeFile(config, configOf(spec, directory))
    const env = { ...process.env, LD_LIBRARY_PATH: path.join(PEERS, 'usr/lib/x86_64-linux-gnu') }
    // nsenter executes the daemon in its place, so the child is the daemon itself.
    const into = [`--net=/run/netns/${spec.namespace}`, '--', spec.executable, '-C', config]
    const child = spawn('nsenter', into, { stdio: ['ignore', 'ignore', 'inherit'], env })
    const daemon = new Conntrackd(child, directory)
    await waitFor(() => execOk(['nsenter', ...into, '-s'], { env }), { what: 'conntrackd to answer' }).catch(
      async (error) => {
        await daemon[Symbol.asyncDispose]()
        throw error
      },
    )
    return daemon
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await ended
    }
    await rm(this.#directory, { recursive: true })
  }
}

/** Filters in the kernel are cheaper, since they do not wake the daemon for flows that it does not replicate. */
const configOf = ({ mode, own, peer, link }: ConntrackdSpec, directory: string): string => `
Sync {
  ${MODES[mode]}
  UDP {
    IPv4_address ${own}
    IPv4_Destination_Address ${peer}
    Port 3780
    Interface ${link}
    SndSocketBuffer 1249280
    RcvSocketBuffer 1249280
    Checksum on
  }
}
General {
  HashSize 32768
  HashLimit 131072
  LogFile off
  Syslog off
  LockFile ${directory}/lock
  UNIX { Path ${directory}/control }
  NetlinkBufferSize 2097152
  NetlinkBufferSizeMaxGrowth 8388608
  Filter From Kernelspace {
    Protocol Accept { TCP }
    Address Ignore { IPv4_address 127.0.0.1 IPv4_address ${own} IPv4_address ${peer} }
    State Accept { ESTABLISHED CLOSED TIME_WAIT CLOSE_WAIT for TCP }
  }
}
`
