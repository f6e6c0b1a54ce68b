import { run } from '../domain/run.ts'
import { type Arrangement, addAddress } from './arrangement.ts'

/** The name that kube-proxy gives it. */
const LINK = 'kube-ipvs0'

/**
 * What kube-proxy in mode ipvs with `strictARP` makes of a node, but for IPVS itself: it binds the addresses of Services to
 * an interface that is down, and sets two sysctls (pkg/proxy/ipvs of Kubernetes 1.36). A bridge stands for the dummy
 * interface, which not every kernel has. Disposing removes both.
 */
export async function bindAsIpvs(
  lab: Arrangement,
  place: string,
  addresses: readonly string[],
): Promise<AsyncDisposable> {
  const strictArp = (ignore: number, announce: number) =>
    lab.run(place, `sysctl -qw net.ipv4.conf.all.arp_ignore=${ignore} net.ipv4.conf.all.arp_announce=${announce}`)
  await strictArp(1, 2)
  const lines = [
    `link add name ${LINK} type bridge`,
    `link set dev ${LINK} arp off`,
    ...addresses.map((address) => addAddress(address, LINK)),
  ]
  await run('ip', ['-n', lab.namespace(place), '-batch', '-'], lines.join('\n'))
  return {
    [Symbol.asyncDispose]: async () => {
      await lab.run(place, `ip link delete dev ${LINK}`)
      await strictArp(0, 0)
    },
  }
}
