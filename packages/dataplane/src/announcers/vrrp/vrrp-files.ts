/** What lies in the announcer's directory. It must outlive the agent, not the machine: memory-backed, mode 0700. */
export interface VrrpFiles {
  readonly directory: string
  readonly config: string
  /** keepalived writes states into it, the mover reads them. */
  readonly fifo: string
  /** The wanted addresses, for the mover. */
  readonly addresses: string
  /** The mover's account of what it did. */
  readonly state: string
  readonly keepalivedPid: string
  readonly vrrpPid: string
  readonly keepalivedLog: string
  /** Files keepalived tracks: anything but 0 in one puts the shards it is about into fault. */
  readonly drained: string
  readonly unhealthy: string
  held(shard: number): string
  /** What it adds to all priorities while the link of this node cannot be relied on. */
  readonly damped: string
}

/** No word of keepalived's configuration ends in such a path. */
const PATH = /^\/[A-Za-z0-9._/@+-]{1,200}$/

/** @throws RangeError when the path cannot stand in keepalived's configuration */
export function configPath(path: string): string {
  if (!PATH.test(path)) throw new RangeError(`${JSON.stringify(path)} cannot stand in a configuration of keepalived`)
  return path
}

/** @throws RangeError when the directory's name cannot stand in keepalived's configuration */
export function vrrpFiles(path: string): VrrpFiles {
  const directory = configPath(path)
  return {
    directory,
    config: `${directory}/keepalived.conf`,
    fifo: `${directory}/notify.fifo`,
    addresses: `${directory}/addresses`,
    state: `${directory}/state.json`,
    keepalivedPid: `${directory}/keepalived.pid`,
    vrrpPid: `${directory}/vrrp.pid`,
    keepalivedLog: `${directory}/keepalived.log`,
    drained: `${directory}/give-up.drained`,
    unhealthy: `${directory}/give-up.unhealthy`,
    held: (shard) => `${directory}/give-up.shard${shard}`,
    damped: `${directory}/damped`,
  }
}
