import type { Arrangement } from '../arrangement.ts'

const HOUR_S = 3_600

/**
 * A host's neighbour entries change only by what it hears. Otherwise the kernel asks the neighbour itself five seconds
 * after a packet, drops an entry that gets no answer, and forgets an unused one after a minute: on a busy machine while
 * a test still waits for the entry to follow the owner.
 */
export async function neighboursStay(lab: Arrangement, host: string, dev = 'eth0'): Promise<void> {
  const settings = ['ipv4', 'ipv6'].flatMap((family) =>
    ['delay_first_probe_time', 'gc_stale_time'].map((name) => `net.${family}.neigh.${dev}.${name}=${HOUR_S}`),
  )
  await lab.run(host, `sysctl -qw ${settings.join(' ')}`)
}
