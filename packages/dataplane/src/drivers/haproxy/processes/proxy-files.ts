import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeRunDirectory } from '@spout/sys'
import { type TlsFiles, tlsFiles, writeTlsFiles } from '../certificates/tls-files.ts'
import { type ProcessPlan, renderConfig, renderMaps } from '../configuration/config.ts'
import { METRICS_SOCKET } from '../requests/metrics-backend.ts'
import { MAPS, type MapName } from '../sections/maps.ts'

/** The files of one domain's proxy, in a directory that only root can enter. */
export interface ProxyFiles {
  readonly directory: string
  readonly config: string
  readonly pid: string
  readonly state: string
  /** Names the last drain of the node in which this proxy closed its connections gracefully. */
  readonly lastDrain: string
  /** The directory of the process's chroot. It cannot write there; the sockets of its relays and `metricsSocket` are in it. */
  readonly root: string
  /** Where the agent answers requests for figures. */
  readonly metricsSocket: string
  /** The named pipe that processes write lines of requests to. */
  readonly lines: string
  readonly map: (map: MapName) => string
  /** Each process has its own socket, so that both can be used during a replacement. */
  readonly statsSocket: (generation: number) => string
  readonly tls: TlsFiles
  /** The process that compares passwords: its socket for the agent, and its id. */
  readonly passwords: { readonly socket: string; readonly pid: string }
}

/** @param certificates the node's directory of certificates */
export const proxyFiles = (directory: string, certificates: string): ProxyFiles => ({
  directory,
  config: join(directory, 'haproxy.cfg'),
  pid: join(directory, 'pid'),
  state: join(directory, 'state.json'),
  lastDrain: join(directory, 'seen-off'),
  root: join(directory, 'root'),
  metricsSocket: join(directory, 'root', METRICS_SOCKET),
  lines: join(directory, 'lines'),
  map: (map) => join(directory, `${map}.map`),
  statsSocket: (generation) => join(directory, `s${generation}`),
  tls: tlsFiles(directory, certificates),
  passwords: { socket: join(directory, 'passwords'), pid: join(directory, 'passwords.pid') },
})

export async function makeProxyDirectory({ directory, root }: ProxyFiles): Promise<void> {
  await makeRunDirectory(directory, 0o700)
  await mkdir(root, { recursive: true })
  await chmod(root, 0o755)
}

/**
 * Writes the files that a process reads at its start. It has read all of them when the start is confirmed.
 * @returns removes those that should not stay
 */
export async function writeProxyFiles(files: ProxyFiles, plan: ProcessPlan): Promise<() => Promise<void>> {
  await makeProxyDirectory(files)
  const maps = renderMaps(plan.entries)
  await Promise.all([
    writeFile(files.config, renderConfig(plan), { mode: 0o600 }),
    ...MAPS.map((map) => writeFile(files.map(map), maps[map], { mode: 0o600 })),
  ])
  return writeTlsFiles(files.tls, plan.frontends, plan.entries)
}

export const removeProxyFiles = (files: ProxyFiles): Promise<void> =>
  rm(files.directory, { recursive: true, force: true })
