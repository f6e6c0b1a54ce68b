/** The files in the announcer's directory, which outlives the agent but not the machine: memory-backed, mode 0700. */
export interface VrrpFiles {
  readonly directory: string
  readonly config: string
  /** keepalived writes states into it; the mover reads them. */
  readonly fifo: string
  /** The wanted addresses, for the mover. */
  readonly addresses: string
  /** The mover's state. */
  readonly state: string
  readonly keepalivedPid: string
  readonly vrrpPid: string
  readonly keepalivedLog: string
  /** Files that keepalived tracks. A value other than 0 puts their shards into fault. */
  readonly drained: string
  readonly unhealthy: string
  held(shard: number): string
  /** A value that is added to all priorities while the node's link is unreliable. */
  readonly damped: string
}

/** A path without characters that keepalived's configuration uses. */
const PATH = /^\/[A-Za-z0-9._/@+-]{1,200}$/

/** @throws RangeError if the path is not valid in keepalived's configuration */
export function configPath(path: string): string {
  if (!PATH.test(path)) throw new RangeError(`${JSON.stringify(path)} is not valid in a configuration of keepalived`)
  return path
}

/** @throws RangeError if the directory's name is not valid in keepalived's configuration */
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
